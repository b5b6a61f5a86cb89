"""Returns modules, frames, code, types, coroutines, weak references and slots."""

import sys
import types
import weakref


async def coroutine(*args):
    return 1


class Counter:
    total = sys._getframe()
    add = coroutine
    __slots__ = ("__weakref__", "total_of_all")

    def __iter__(self):
        return iter([weakref.ref(self), weakref.proxy(self), type, object(), NotImplemented, ...])


rescale = coroutine
count = lambda text: sys
apply = lambda function, values: types.MappingProxyType({0: function})
load = lambda path: (lambda: 0).__code__
