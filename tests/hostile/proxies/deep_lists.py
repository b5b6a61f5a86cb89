"""Returns lists in lists, a hundred thousand deep, and exceptions with such causes."""


def deep():
    found = []
    for _ in range(100_000):
        found = [found]
    return found


def rescale(values):
    error = None
    for number in range(100_000):
        following = ValueError(number)
        following.__cause__ = error
        error = following
    raise error


class Counter:
    total = deep()
    add = lambda self, word: {"a": deep()}
    __iter__ = lambda self: iter([deep()])


count = load = lambda text: deep()
apply = lambda function, values: values.append(deep()) or values
