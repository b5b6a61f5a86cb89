"""Raises classes of its own that are called ValueError and KeyError, and are not those."""


class ValueError(BaseException):  # noqa: A001
    __module__ = "builtins"


class KeyError(Exception):  # noqa: A001
    __module__ = "builtins"
    __class__ = LookupError


def rescale(values):
    raise ValueError("all values are equal")


def apply(function, values):
    raise KeyError("other")


count = load = Counter = rescale
