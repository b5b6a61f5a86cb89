"""With map, reduce, recursion and slices."""

import functools


def apply_all(function, values):
    return list(map(function, values))


def retry(function, times):
    try:
        return function()
    except Exception:
        if times <= 1:
            raise
        return retry(function, times - 1)


def compose(*functions):
    return functools.reduce(lambda f, g: lambda x: f(g(x)), functions, lambda x: x)


def sort_in_place(values, key=None):
    values[:] = sorted(values, key=key)


def count_into(counts, words):
    for word in set(words):
        counts.setdefault(word, 0)
        counts[word] += words.count(word)


def visit(tree, seen, depth=0):
    waiting = [(name, below, depth) for name, below in reversed(tree.items())]
    while waiting:
        name, below, depth = waiting.pop()
        seen(name, depth)
        waiting += [(child, more, depth + 1) for child, more in reversed(below.items())]
