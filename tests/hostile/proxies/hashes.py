"""Returns objects whose hash raises, changes, is huge, or is that of what they are compared with."""

import itertools

TICKS = itertools.count()


class Changing:
    __hash__ = lambda self: next(TICKS)
    __eq__ = lambda self, other: True


class Huge(Changing):
    __hash__ = lambda self: 10**400


class Raising(Changing):
    def __hash__(self):
        raise MemoryError("no hash")


class Counter:
    total = Changing()
    add = lambda self, word: Huge()
    __iter__ = lambda self: iter([Changing(), Raising()])


rescale = load = lambda values: [Changing(), Huge(), Raising()]
count = lambda text: Raising()
apply = lambda function, values: {Changing() for _ in range(3)}
