"""Raises exceptions whose text, arguments, notes and attributes raise, lie or are huge."""

import itertools


class Agreeing(str):
    __eq__ = __contains__ = lambda self, other: True
    __hash__ = None


class Raises(ArithmeticError):
    def __str__(self):
        raise KeyboardInterrupt

    __repr__ = __str__
    args = property(__str__)


class Lies(ArithmeticError):
    __class__ = ValueError
    __str__ = lambda self: Agreeing("wrong")


class Huge(ArithmeticError):
    __notes__ = ["x" * 10**6] * 100
    __str__ = lambda self: "x" * 10**9
    __getattr__ = lambda self, name: self


class NoText(ArithmeticError):
    __str__ = __repr__ = lambda self: 7
    __reduce__ = lambda self: (print, ("reduced",))


class Never(ArithmeticError):
    def __str__(self):
        while True:
            pass


KINDS = itertools.cycle([Raises, Lies, Huge, NoText, Never])


def answer(*args):
    raise next(KINDS)(Agreeing("all values"))


rescale = count = apply = load = Counter = answer
