import math
import pytest
from rectangle import Rectangle, diagonal

SIDES = [(3, 4, 5.0), (5, 12, 13.0)]


@pytest.fixture
def square():
    return Rectangle(2, 2)


class TestRectangle:
    def test_area(self):
        r = Rectangle(3, 4)
        assert r.area() == 12
        assert r.width == 3, "width"

    def test_scale(self):
        r = Rectangle(1, 2)
        r.scale(3)
        assert r.area() == 18
        assert Rectangle(2, 2).area() == 4

    def test_negative(self):
        with pytest.raises(ValueError, match="positive"):
            Rectangle(-1, 2)


@pytest.mark.parametrize("width, height, expected", SIDES)
def test_diagonal(width, height, expected):
    assert diagonal(width, height) == pytest.approx(expected)


def test_diagonal_of_unit():
    """the unit square"""
    assert diagonal(1, 1) == pytest.approx(math.sqrt(2), rel=1e-6)
    assert round(diagonal(1, 1), 3) == 1.414


def test_square(square):
    assert square.area() == 4
