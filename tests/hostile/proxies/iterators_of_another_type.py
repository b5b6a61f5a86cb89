"""Gives iterators that are none, and that end with the wrong exceptions."""


class NoIterator:
    def __iter__(self):
        return 7


class Ends:
    __iter__ = lambda self: self

    def __next__(self):
        raise StopAsyncIteration("no more")


class Leaks:
    def __iter__(self):
        return self

    def __next__(self):
        raise SystemExit(0)


class Counter:
    total = 7.5
    add = lambda self, word: Leaks()

    def __iter__(self):
        return Leaks()


rescale = lambda values: Ends()
count = lambda text: NoIterator()
apply = lambda function, values: Leaks()
load = lambda path: NoIterator()
