"""Goal: fill standard output, standard error and the disk.

Component: word_count
At most: 0
"""

import sys

sys.stdout.write("1 the\n")
with open("counts.txt", "w") as file:
    while True:
        for stream in (sys.stdout, sys.stderr, file):
            try:
                stream.write("1 the\n" * 10_000)
            except OSError:
                continue
