"""Public tests of scale."""

from pathlib import Path

import pytest
from scale import Counter, apply, count, load, rescale


def test_rescale():
    """the smallest becomes 0, the largest 1"""
    assert rescale([2.0, 4.0, 3.0]) == [0.0, 1.0, 0.5]


def test_equal_values():
    """equal values have no scale"""
    with pytest.raises(ValueError, match="all values"):
        rescale([7.0, 7.0])


@pytest.mark.parametrize("text, expected", [("one", 1), ("two  words", 2), ("", 0)])
def test_count(text, expected):
    """words are counted"""
    assert count(text) == expected


def test_counter():
    """words are added and listed"""
    counter = Counter()
    assert counter.add("tea") == 1
    assert counter.add("cup") == 1
    assert counter.add("tea") == 2
    assert counter.total == 3
    assert list(counter) == ["cup", "tea"]


def test_apply():
    """the list itself is changed"""
    values = [1, 2, 3]
    factor = 10
    found = apply(lambda value: value * factor, values)
    assert values == [10, 20, 30]
    assert found == values


def test_load():
    """lines without spaces around them"""
    assert load(Path(__file__).parent / "lines.txt")[:2] == ["one", "two"]
