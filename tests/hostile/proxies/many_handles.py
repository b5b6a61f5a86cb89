"""Makes an object for every look, and keeps all, until handles run out."""

KEPT = []


class Many:
    def __getattr__(self, name):
        KEPT.append(Many())
        return KEPT[-1]

    __getitem__ = __call__ = __getattr__
    __len__ = lambda self: 10**6

    def __iter__(self):
        while True:
            yield self.next


class Counter(Many):
    pass


rescale = apply = load = lambda *args: [Many() for _ in range(10**6)]
count = lambda text: Many()
