"""Pictures of figures, in letters."""

from figures import Rectangle, square


def draw(figures: dict[str, Rectangle], width: int, height: int) -> str:
    """Return `height` lines of `width` letters.

    Each cell shows the letter of the last figure that covers it, or ".".
    """
    # Your code here.
    raise NotImplementedError


def board(size: int) -> list[Rectangle]:
    """Return the black cells of a board, row by row; the first cell is black."""
    # Your code here.
    raise NotImplementedError
