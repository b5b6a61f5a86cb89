"""Rectangles."""

import math


class Rectangle:
    """A rectangle with two sides."""

    def __init__(self, width, height):
        if width <= 0 or height <= 0:
            raise ValueError("sides are positive")
        self.width = width
        self.height = height

    def area(self):
        """Return the area."""
        return self.width * self.height

    def scale(self, factor):
        """Make both sides larger."""
        self.width *= factor
        self.height *= factor


def diagonal(width: float, height: float) -> float:
    """Return the length of the diagonal."""
    return math.hypot(width, height)
