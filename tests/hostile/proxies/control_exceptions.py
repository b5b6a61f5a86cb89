"""Raises KeyboardInterrupt, SystemExit, GeneratorExit and others that are no Exceptions."""

import itertools


class Own(BaseException):
    pass


KINDS = itertools.cycle(
    [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, StopAsyncIteration, Own, BaseException]
)


def answer(*args):
    raise next(KINDS)(0)


class Counter:
    total = property(answer)
    add = answer
    __iter__ = __next__ = answer


rescale = count = apply = load = answer
