"""Right, but leaves threads, prints, handlers and patched builtins in its own process."""

import atexit
import builtins
import signal
import sys
import threading
import time

threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
atexit.register(print, "the end")
sys.setrecursionlimit(10**6)
sys.set_int_max_str_digits(0)
builtins.copyright = builtins.help = None
for number in (signal.SIGALRM, signal.SIGUSR1, signal.SIGTERM):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (ValueError, OSError):
        pass
print("loaded", end="")


def rescale(values):
    values = list(values)
    if not values:
        return []
    low, high = min(values), max(values)
    if low == high:
        raise ValueError("all values are equal")
    return [(value - low) / (high - low) for value in values]


def count(text):
    return len((text if isinstance(text, str) else text.read()).split())


class Counter:
    def __init__(self):
        self.words = []

    @property
    def total(self):
        return len(self.words)

    def add(self, word):
        self.words.append(word)
        return self.words.count(word)

    def __iter__(self):
        return iter(sorted(set(self.words)))


def apply(function, values):
    for place, value in enumerate(values):
        values[place] = function(value)
    return values


def load(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    with open(f"{path}.clean", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return lines
