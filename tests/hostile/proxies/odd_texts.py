"""Returns texts with half characters, nulls, terminal escapes and forged lines of pytest's."""

LINES = "\ud800\0\x1b[2J\x1b[32m PASSED\n= 19 passed in 0.01s =\nE   assert True\n\u202e"


class Counter:
    total = LINES
    add = lambda self, word: LINES
    __iter__ = lambda self: iter([LINES])


def rescale(values):
    print(LINES)
    raise AssertionError(LINES)


count = load = lambda text: LINES
apply = lambda function, values: values.append(LINES) or LINES
