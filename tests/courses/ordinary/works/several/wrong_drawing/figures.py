"""Right."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rectangle:
    left: int
    top: int
    width: int
    height: int

    @property
    def area(self):
        return self.width * self.height

    def covers(self, x, y):
        return 0 <= x - self.left < self.width and 0 <= y - self.top < self.height

    def moved(self, across=0, down=0):
        return replace(self, left=self.left + across, top=self.top + down)


def square(size):
    if size < 1:
        raise ValueError(size)
    return Rectangle(0, 0, size, size)
