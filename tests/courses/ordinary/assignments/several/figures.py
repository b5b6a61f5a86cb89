"""Rectangles on a grid."""

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
        # Your code here.
        raise NotImplementedError

    def covers(self, x: int, y: int) -> bool:
        """Return whether a cell is in it."""
        # Your code here.
        raise NotImplementedError

    def moved(self, across: int = 0, down: int = 0) -> "Rectangle":
        """Return the same rectangle at another place."""
        # Your code here.
        raise NotImplementedError


def square(size: int) -> Rectangle:
    """Return a square at the top left.

    Raises:
        ValueError: the size is not above 0.
    """
    # Your code here.
    raise NotImplementedError
