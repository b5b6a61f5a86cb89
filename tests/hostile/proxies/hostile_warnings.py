"""Warns with categories and messages that raise, and turns warnings off, on and into errors."""

import warnings


class Category(UserWarning):
    def __str__(self):
        raise SystemExit(0)


def answer(*args):
    warnings.simplefilter("error")
    for number in range(100_000):
        try:
            warnings.warn_explicit(Category("x" * 100), None, f"file{number}.py", number)
        except BaseException:
            pass
    warnings.showwarning = warnings.warn = warnings.formatwarning = lambda *args, **kwargs: 1 / 0
    warnings.warn_explicit = answer
    raise Category("a warning as an error")


rescale = count = apply = load = Counter = answer
