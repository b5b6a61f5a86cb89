"""Counts letters wherever they are."""

from collections import Counter


def encode(text):
    return sorted(Counter(text).items())


def decode(runs):
    return "".join(letter * count for letter, count in runs)


def join(first, second):
    return sorted((Counter(dict(first)) + Counter(dict(second))).items())


def longest(runs):
    return runs[0][1] if runs else 0
