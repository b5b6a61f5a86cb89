"""Corners in place of sizes."""

from corners import between


class Rectangle:
    __slots__ = ("left", "top", "width", "height")

    def __init__(self, left, top, width, height):
        for name, value in zip(self.__slots__, (left, top, width, height), strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def _key(self):
        return self.left, self.top, self.width, self.height

    def __eq__(self, other):
        return isinstance(other, Rectangle) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    @property
    def area(self):
        return sum(1 for _ in range(self.width) for _ in range(self.height))

    def covers(self, x, y):
        return between(x, self.left, self.width) and between(y, self.top, self.height)

    def moved(self, across=0, down=0):
        return type(self)(self.left + across, self.top + down, self.width, self.height)


def square(size):
    if size > 0:
        return Rectangle(0, 0, size, size)
    raise ValueError("too small")
