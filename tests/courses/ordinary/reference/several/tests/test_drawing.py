"""Hidden tests of drawing."""

from drawing import board, draw
from reference import draw as right
from reference import square


def test_nothing():
    """no figures, and no cells"""
    assert draw({}, 2, 1) == ".."
    assert draw({}, 2, 0) == ""


def test_board_picture():
    """a board with all its cells"""
    import figures

    cells = board(3)
    assert len(cells) == 5
    picture = draw(dict(zip("vwxyz", cells, strict=True)), 3, 3)
    assert picture == "v.w\n.x.\ny.z"
    assert figures.square(1) == cells[0]


def test_as_the_solution():
    """a picture that the solution draws, too"""
    import figures

    mine = {"o": figures.square(4), "+": figures.Rectangle(1, 1, 9, 1)}
    theirs = {"o": square(4), "+": square(1)}
    assert draw(mine, 5, 5).count("o") == right(theirs, 5, 5).count("o") - 2
