"""Loses the last run, joins without looking, and fails for nothing."""


def encode(text):
    runs = []
    count = 0
    for place, letter in enumerate(text):
        count += 1
        if place + 1 < len(text) and text[place + 1] != letter:
            runs.append((letter, count))
            count = 0
    return runs


def decode(runs):
    return "".join(letter * count for letter, count in runs)


def join(first, second):
    return first + second


def longest(runs):
    return max(count for _, count in runs)
