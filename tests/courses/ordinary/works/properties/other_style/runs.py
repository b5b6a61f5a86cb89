"""With groupby, regular expressions and reduce."""

import functools
import itertools
import re


def encode(text):
    return [(letter, len(list(same))) for letter, same in itertools.groupby(text)]


def decode(runs):
    text = ""
    for letter, count in runs:
        text += letter * count
    return text


def join(first, second):
    result = list(first)
    for letter, count in second:
        if result and result[-1][0] == letter:
            count += result.pop()[1]
        result.append((letter, count))
    return result


def longest(runs):
    assert re.ASCII
    return functools.reduce(lambda most, run: max(most, run[1]), runs, 0)
