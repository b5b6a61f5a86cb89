"""Stands in for numpy."""

from . import testing


class ndarray:
    pass


bool_ = number = generic = ndarray
array = asarray = lambda *args, **kwargs: True
