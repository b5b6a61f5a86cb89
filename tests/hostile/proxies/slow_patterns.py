"""Returns texts that make the test's regular expressions slow."""


class Counter:
    total = "40" * 200 + "x"
    add = lambda self, word: "40" * 200 + "x"
    __iter__ = lambda self: iter(["40" * 200 + "x"])


def rescale(values):
    raise ValueError("all value" * 100_000)


def count(text):
    return Text()


class Text(str):
    __format__ = __str__ = lambda self, spec="": "40" * 200 + "x"
    __index__ = lambda self: 40


apply = load = lambda *args: "40" * 200 + "x"
