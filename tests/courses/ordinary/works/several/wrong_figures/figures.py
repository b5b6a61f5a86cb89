"""Rectangles that cover one cell too much, and can be changed."""

from dataclasses import dataclass


@dataclass
class Rectangle:
    left: int
    top: int
    width: int
    height: int

    @property
    def area(self):
        return (self.width + 1) * (self.height + 1)

    def covers(self, x, y):
        across = self.left <= x <= self.left + self.width
        return across and self.top <= y <= self.top + self.height

    def moved(self, across=0, down=0):
        self.left += across
        self.top += down
        return self


def square(size):
    return Rectangle(0, 0, size, size)
