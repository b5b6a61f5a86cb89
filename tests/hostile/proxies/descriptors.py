"""Answers attributes with descriptors that end the process, hang, or delete the class."""

import os


class Total:
    def __get__(self, owner, kind=None):
        if owner is None:
            while True:
                pass
        os._exit(0)

    def __set_name__(self, owner, name):
        owner.total_is = name


class Counter:
    total = Total()

    @property
    def add(self):
        del type(self).total
        raise AttributeError("add")

    def __iter__(self):
        self.__dict__ = {"total": self}
        raise NameError("gone")


rescale = count = apply = load = property(lambda self: self)
