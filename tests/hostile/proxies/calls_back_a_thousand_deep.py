"""Lets the test's function ask it, which calls the test's function, a thousand times and more."""

FUNCTIONS = []


def apply(function, values):
    FUNCTIONS.append(function)
    try:
        return [0, *[count(value) for value in values]]
    except KeyError:
        return -1


def count(text):
    if not FUNCTIONS or len(FUNCTIONS) > 100_000:
        return -1
    FUNCTIONS.append(FUNCTIONS[-1])
    return FUNCTIONS[0](text)


rescale = load = Counter = lambda *args: -1
