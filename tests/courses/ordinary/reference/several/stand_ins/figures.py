"""The solution's rectangles, for drawings of whoever has none."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rectangle:
    """A rectangle of whole cells; (0, 0) is the cell at the top left."""

    left: int
    top: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """The number of cells."""
        return self.width * self.height

    def covers(self, x: int, y: int) -> bool:
        """Return whether a cell is in it."""
        across = self.left <= x < self.left + self.width
        return across and self.top <= y < self.top + self.height

    def moved(self, across: int = 0, down: int = 0) -> "Rectangle":
        """Return the same rectangle at another place."""
        return Rectangle(self.left + across, self.top + down, self.width, self.height)


def square(size: int) -> Rectangle:
    """Return a square at the top left."""
    if size <= 0:
        raise ValueError(f"no square has the size {size}")
    return Rectangle(0, 0, size, size)
