"""Has a length of 10**12, a negative one, a length hint of 10**15, and items without end."""


class Long:
    __len__ = lambda self: 10**12
    __length_hint__ = lambda self: 10**15
    __getitem__ = lambda self, index: index
    __index__ = lambda self: 10**12
    __eq__ = __contains__ = lambda self, other: False
    __hash__ = None


class Negative(Long):
    __len__ = lambda self: -1
    __length_hint__ = lambda self: -5


class Counter(Long):
    total = Negative()
    add = lambda self, word: Long()
    __iter__ = lambda self: self
    __next__ = lambda self: "word"


rescale = load = lambda values: Long()
count = lambda text: Negative()
apply = lambda function, values: Long()
