"""Returns objects that raise something else for each attribute and operator."""

import itertools

ERRORS = itertools.cycle(
    [KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit, MemoryError, RecursionError, OSError]
)


def fail(self, *args, **kwargs):
    raise next(ERRORS)("no")


class Raising:
    __getattribute__ = __repr__ = __str__ = __eq__ = __ne__ = __lt__ = __gt__ = __hash__ = fail
    __len__ = __iter__ = __next__ = __bool__ = __index__ = __float__ = __format__ = fail
    __call__ = __enter__ = __exit__ = __getitem__ = __contains__ = __dir__ = __reduce_ex__ = fail
    __sizeof__ = __instancecheck__ = __copy__ = __deepcopy__ = fail


rescale = count = apply = load = Counter = lambda *args: Raising()
