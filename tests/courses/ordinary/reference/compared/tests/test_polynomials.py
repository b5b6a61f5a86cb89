"""Hidden tests of polynomials, against the solution."""

import random

import pytest
from polynomials import Polynomial, derivative, evaluate, multiply
from reference import Polynomial as RightPolynomial
from reference import derivative as right_derivative
from reference import multiply as right_multiply

LISTS = [[], [4.0], [1.0, -2.0], [0.0, 0.0, 3.0, 0.5, 0.0]]


@pytest.fixture
def drawn():
    """Some coefficients."""
    numbers = random.Random(11)
    return [numbers.uniform(-3, 3) for _ in range(8)]


@pytest.mark.parametrize("second", LISTS)
@pytest.mark.parametrize("first", LISTS)
def test_multiply(first, second):
    """the product is that of the solution"""
    expected = right_multiply(first, second)
    assert multiply(first, second) == pytest.approx(expected)


def test_derivative(drawn):
    """the derivative is that of the solution"""
    expected = right_derivative(drawn)
    assert derivative(list(drawn)) == pytest.approx(expected)


@pytest.mark.parametrize("x", [-2, 0, 0.3])
def test_evaluate(reference, drawn, x):
    """the value is that of the solution"""
    expected = reference.evaluate(drawn, x)
    assert evaluate(drawn, x) == pytest.approx(expected)


def test_whole(reference, drawn):
    """a derivative of a product, with the solution's functions at the end"""
    expected = reference.multiply(drawn, reference.derivative(drawn))
    product = multiply(drawn, derivative(drawn))
    assert len(product) == 2 * len(drawn) - 2
    assert reference.evaluate(product, 0.5) == pytest.approx(reference.evaluate(expected, 0.5))


def test_degree():
    """zeros at the end do not count"""
    for coefficients in LISTS:
        assert Polynomial(coefficients).degree == RightPolynomial(coefficients).degree
