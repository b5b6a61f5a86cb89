"""Stands in for the test file."""

from scale import Counter, apply, count, load, rescale  # noqa: F401

EXPECTED = -1


def test_rescale():
    """the smallest becomes 0, the largest 1"""
