"""With comprehensions, collections and open files."""

import collections


def rescale(values):
    values = tuple(values)
    ordered = sorted(values)
    if not ordered:
        return ordered
    width = ordered[-1] - ordered[0]
    if width == 0:
        raise ValueError("all values are the same")
    return [(value - ordered[0]) / width for value in values]


def count(text):
    lines = text.splitlines() if isinstance(text, str) else text
    return sum(1 for line in lines for _ in line.split())


class Counter:
    def __init__(self):
        self.words = collections.Counter()

    @property
    def total(self):
        return sum(self.words.values())

    def add(self, word):
        self.words[word] += 1
        return self.words[word]

    def __iter__(self):
        yield from sorted(self.words)


def apply(function, values):
    values[:] = map(function, list(values))
    return list(values)


def load(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    with open(str(path) + ".clean", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return lines
