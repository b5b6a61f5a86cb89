"""Returns iterators that never end: counters, generators, cycles, itself."""

import itertools


class Itself:
    __iter__ = lambda self: self
    __next__ = lambda self: self
    __reversed__ = lambda self: self


def endless(*args):
    while True:
        yield 0.0


class Counter:
    total = itertools.count()
    add = lambda self, word: itertools.repeat(1)

    def __iter__(self):
        return itertools.cycle(["cup", "tea"])


rescale = endless
count = lambda text: Itself()
apply = lambda function, values: map(lambda value: value, itertools.count())
load = lambda path: iter(lambda: "one", None)
