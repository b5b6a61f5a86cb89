"""Is iterated by __getitem__ alone, which never raises an IndexError."""


class Items:
    def __getitem__(self, index):
        return ["cup", "tea"][index % 2] if isinstance(index, int) else self

    __len__ = lambda self: 2
    __reversed__ = lambda self: Items()


class Counter(Items):
    total = 10**9
    add = lambda self, word: Items()


rescale = count = apply = load = Counter = Counter
