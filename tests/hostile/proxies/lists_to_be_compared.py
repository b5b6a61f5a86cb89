"""Returns texts and lists whose comparison in words takes the test's side long."""


def rescale(values):
    return [number / 3 for number in range(30_000)]


def load(path):
    return [("ab" * (number % 97)) + "\n" * 50 for number in range(20_000)]


class Counter:
    total = 0
    add = lambda self, word: "\n".join(str(number % 7) for number in range(100_000))
    __iter__ = lambda self: iter([str(number % 3) for number in range(100_000)])


count = lambda text: "\n" * 10**6
apply = lambda function, values: [["x"] * 100] * 10_000
