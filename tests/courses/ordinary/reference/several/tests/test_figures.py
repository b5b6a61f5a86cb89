"""Hidden tests of figures."""

import figures
import pytest


def test_moved():
    """the figure itself stays where it is"""
    here = figures.Rectangle(0, 0, 2, 3)
    there = here.moved(down=4)
    assert (there.left, there.top, there.width, there.height) == (0, 4, 2, 3)
    assert here.top == 0 and there is not here
    assert there != here == figures.Rectangle(0, 0, 2, 3)


def test_frozen():
    """figures cannot be changed, and can be keys"""
    found = figures.square(1).moved(3, -1)
    with pytest.raises(AttributeError):
        found.left = 1
    assert {found: "it"}[figures.Rectangle(3, -1, 1, 1)] == "it"
