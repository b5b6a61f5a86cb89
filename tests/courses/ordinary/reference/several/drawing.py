"""Pictures of figures, in letters."""

from figures import Rectangle, square


def draw(figures: dict[str, Rectangle], width: int, height: int) -> str:
    """Return `height` lines of `width` letters.

    Each cell shows the letter of the last figure that covers it, or ".".
    """
    ### BEGIN SOLUTION
    lines = []
    for y in range(height):
        line = ""
        for x in range(width):
            letters = [letter for letter, figure in figures.items() if figure.covers(x, y)]
            line += letters[-1] if letters else "."
        lines.append(line)
    return "\n".join(lines)
    ### END SOLUTION


def board(size: int) -> list[Rectangle]:
    """Return the black cells of a board, row by row; the first cell is black."""
    ### BEGIN SOLUTION
    cells = [(x, y) for y in range(size) for x in range(size)]
    return [square(1).moved(x, y) for x, y in cells if (x + y) % 2 == 0]
    ### END SOLUTION
