"""Hidden tests of signals."""

import numpy as np
import signals
from numpy.testing import assert_allclose, assert_almost_equal, assert_array_less, assert_equal


def test_average_of_random_values():
    """the same as the means of slices"""
    values = np.random.default_rng(5).normal(size=50)
    expected = np.array([values[i : i + 7].mean() for i in range(44)])
    assert_allclose(signals.moving_average(values, 7), expected, rtol=1e-10)


def test_constant_rows():
    """what is constant becomes 0, along either axis"""
    x = np.array([[5.0, 5.0, 5.0], [1.0, 2.0, 3.0]])
    found = signals.standardise(x, axis=1)
    assert_equal(found[0], np.zeros(3))
    assert_almost_equal(found[1], [-1.2247449, 0, 1.2247449], decimal=6)
    assert np.isfinite(signals.standardise(x)).all()


def test_distances():
    """all pairs of points"""
    a = np.array([[0.0, 0.0], [3.0, 4.0]])
    b = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    found = signals.distances(a, b)
    assert isinstance(found, np.ndarray)
    assert_allclose(found, [[0, 3, 4], [5, 4, 3]])
    assert_allclose(signals.distances(b, a), found.T)
    assert_array_less(found, 5.1)
    assert found[1, 0] == 5 and found[0].max() == 4
    found[0, 0] = 7
    assert signals.distances(a, b)[0, 0] == 0


def test_extremes():
    """the first of the largest values, and its place"""
    largest, place = signals.extremes(np.array([[1, 9, 2], [9, 0, 9]]))
    assert largest == 9
    assert place.tolist() == [0, 1]
    assert tuple(place) == (0, 1)


def test_other_types():
    """float32 and whole numbers are fine, too"""
    x = np.array([1, 2, 30], dtype=np.int32)
    assert signals.clip_in_place(x, 2, 5) == 2
    assert_equal(x, np.array([2, 2, 5], dtype=np.int32))
    y = np.array([[1.5], [2.5]], dtype=np.float32)
    assert signals.standardise(y).dtype == np.float32
    assert signals.one_hot(np.array([], dtype=int), 3).shape == (0, 3)
