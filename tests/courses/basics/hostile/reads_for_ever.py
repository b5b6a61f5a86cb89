"""Goal: never stop reading, from standard input and then from a file without an end.

Component: word_count
At most: 0
"""

import sys

total = len(sys.stdin.read())
with open("/dev/zero", "rb") as file:
    while True:
        total += len(file.read(1 << 16))
        total += len(sys.stdin.read(1))
