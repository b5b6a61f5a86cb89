"""Calls the test's function in a loop that never ends."""


def apply(function, values):
    while True:
        try:
            function(values[0])
        except BaseException:
            pass


rescale = count = load = Counter = lambda *args: -1
