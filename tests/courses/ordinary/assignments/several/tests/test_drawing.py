"""Public tests of drawing."""

import drawing
from figures import Rectangle, square

PICTURE = """\
aa..
abb.
.bb."""


def test_draw():
    """later figures cover earlier ones"""
    figures = {"a": square(2), "b": square(2).moved(1, 1)}
    assert drawing.draw(figures, 4, 3) == PICTURE


def test_board():
    """black cells of a small board"""
    cells = drawing.board(2)
    assert cells == [Rectangle(0, 0, 1, 1), Rectangle(1, 1, 1, 1)]
    assert all(isinstance(cell, Rectangle) for cell in cells)
