"""Returns lists, numbers and attributes that are other ones at each look."""

import itertools

TURN = itertools.count()


class Turning(list):
    def __iter__(self):
        return iter([[0.0, 1.0, 0.5], [9.0], []][next(TURN) % 3])

    __len__ = lambda self: next(TURN) % 5
    __getitem__ = lambda self, index: float(next(TURN))
    __eq__ = lambda self, other: next(TURN) % 2 == 0
    __hash__ = None


class Counter:
    total = property(lambda self: next(TURN) + 100)
    add = property(lambda self: [len, abs, print][next(TURN) % 3])
    __iter__ = lambda self: iter(Turning())
    __class__ = property(lambda self: [int, list, str][next(TURN) % 3])


rescale = apply = load = lambda *args: Turning([9.0])
count = lambda text: 1000 + next(TURN)
