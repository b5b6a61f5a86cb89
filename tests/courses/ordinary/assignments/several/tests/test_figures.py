"""Public tests of figures."""

import pytest
from figures import Rectangle, square


def test_area():
    """width times height"""
    assert Rectangle(1, 2, 3, 4).area == 12


def test_covers():
    """the cells at the right and at the bottom are outside"""
    figure = Rectangle(1, 2, 3, 4)
    assert figure.covers(1, 2) and figure.covers(3, 5)
    assert not figure.covers(4, 5) and not figure.covers(3, 6)


def test_square():
    assert square(3) == Rectangle(0, 0, 3, 3)
    with pytest.raises(ValueError):
        square(0)
