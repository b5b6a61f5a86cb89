"""Public tests of temperature."""

import pytest
from pytest import approx
from temperature import convert, is_possible, to_celsius

UNITS = ["C", "F", "K"]


@pytest.mark.parametrize("fahrenheit, celsius", [(32, 0), (212, 100), (-40, -40), (98.6, 37)])
def test_to_celsius(fahrenheit, celsius):
    """well-known temperatures"""
    assert to_celsius(fahrenheit) == pytest.approx(celsius)


@pytest.mark.parametrize("target", UNITS)
@pytest.mark.parametrize("source", UNITS)
def test_there_and_back(source, target):
    """converting to a unit and back changes nothing"""
    there = convert(21.5, source, target)
    assert convert(there, target, source) == approx(21.5)
    assert (there == approx(21.5)) is (source == target)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        pytest.param(-273.15, "C", True, id="absolute zero"),
        pytest.param(-300, "C", False, id="too cold"),
        pytest.param(-300, "F", True, id="cold in Fahrenheit"),
        pytest.param(-1e-3, "K", False, id="below zero Kelvin"),
    ],
)
def test_is_possible(value, unit, expected):
    assert is_possible(value, unit) is expected
