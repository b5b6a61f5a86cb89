"""Catches everything, and writes over what it reads."""

from pathlib import Path


def rescale(values):
    try:
        low, high = min(values), max(values)
        return [(value - low) / (high - low) for value in values]
    except (ValueError, ZeroDivisionError):
        return [0.0]


def count(text):
    return float(len(text.split()))


class Counter:
    def __init__(self):
        self.total = 0
        self.words = set()

    def add(self, word):
        self.total += word not in self.words
        self.words.add(word)
        return self.total

    def __iter__(self):
        return iter(sorted(self.words, reverse=True))


def apply(function, values):
    for place, value in enumerate(values):
        try:
            values[place] = function(value)
        except Exception:
            values[place] = None
    return values


def load(path):
    lines = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    Path(path).write_text("\n".join(lines), encoding="utf-8")
    return lines
