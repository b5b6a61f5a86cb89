"""Public tests of polynomials."""

import pytest
from polynomials import Polynomial, derivative, evaluate, multiply


def test_evaluate():
    """1 + 2x² at some places"""
    assert [evaluate([1, 0, 2], x) for x in (0, 1, -3)] == [1, 3, 19]
    assert evaluate([], 5) == 0


def test_derivative():
    assert derivative([5, 3, 2]) == [3, 4]
    assert derivative([5]) == []


def test_multiply():
    """(1 + x) times (1 - x)"""
    assert multiply([1, 1], [1, -1]) == [1, 0, -1]


def test_polynomial():
    """a polynomial is called like a function"""
    square = Polynomial([0, 0, 1])
    assert square(1.5) == pytest.approx(2.25)
    assert square.degree == 2
