"""Replaces builtins of its process: isinstance, type, len, getattr, __import__ and more."""

import builtins

for name in ("len", "sorted", "repr", "str", "list", "dict", "hash", "iter", "next", "callable"):
    setattr(builtins, name, lambda *args, **kwargs: 40)
for name in ("isinstance", "issubclass", "hasattr", "any", "all"):
    setattr(builtins, name, lambda *args: True)
builtins.getattr = lambda thing, name, *default: 40
builtins.type = lambda *args: builtins.int
builtins.__import__ = lambda name, *args, **kwargs: builtins
builtins.__build_class__ = lambda *args, **kwargs: 40
builtins.ValueError = builtins.Exception = builtins.BaseException = KeyboardInterrupt


rescale = count = apply = load = Counter = lambda *args: -40
