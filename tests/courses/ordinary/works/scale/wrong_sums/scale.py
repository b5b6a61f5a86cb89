"""Scales by the largest value, counts spaces, and works on a copy."""


def rescale(values):
    largest = max(values, default=1)
    return [value / largest for value in values]


def count(text):
    return text.count(" ") + 1


class Counter:
    def __init__(self):
        self.counts = []

    @property
    def total(self):
        return len(self.counts)

    def add(self, word):
        self.counts.append(word)
        return self.total

    def __iter__(self):
        return iter(self.counts)


def apply(function, values):
    return [function(value) for value in values]


def load(path):
    with open(path, encoding="utf-8") as file:
        return file.read().split("\n")
