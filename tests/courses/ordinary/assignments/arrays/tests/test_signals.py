"""Public tests of signals."""

import json
from pathlib import Path

import numpy as np
import pytest
import signals
from numpy.testing import assert_allclose, assert_array_equal

SIGNAL = np.array([1.0, 2.0, 4.0, 8.0, 16.0])


def test_moving_average():
    """means of neighbours"""
    assert_allclose(signals.moving_average(SIGNAL, 2), [1.5, 3, 6, 12])
    assert_array_equal(signals.moving_average(SIGNAL, 1), SIGNAL)
    assert signals.moving_average(SIGNAL, 5).shape == (1,)


@pytest.mark.parametrize("width", [2, 3])
def test_snapshot(width):
    """the means that were written down beside this file"""
    snapshot = json.loads((Path(__file__).parent / "snapshots" / "means.json").read_text())
    means = signals.moving_average(np.array(snapshot["signal"]), width)
    assert_allclose(means, snapshot["means"][str(width)])


@pytest.mark.parametrize("width", [0, 6])
def test_wrong_width(width):
    """there are not that many neighbours"""
    with pytest.raises(ValueError):
        signals.moving_average(SIGNAL, width)


def test_standardise():
    """columns have mean 0 and deviation 1"""
    x = np.arange(12.0).reshape(4, 3) ** 2
    before = x.copy()
    found = signals.standardise(x)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(found.std(axis=0), np.ones(3), err_msg="the deviation")
    np.testing.assert_array_equal(x, before, "the argument was changed")


def test_one_hot():
    """a 1 for each label"""
    found = signals.one_hot(np.array([2, 0, 2]), 4)
    assert found.dtype == np.int64
    assert found.shape == (3, 4) and found.ndim == 2
    assert_array_equal(found, np.eye(4)[[2, 0, 2]])
    assert (found.sum(axis=1) == 1).all()


def test_clip_in_place():
    """the array itself is changed"""
    x = np.array([[-3.0, 0.5], [2.0, 7.0]])
    view = x[1]
    assert signals.clip_in_place(x, 0, 2) == 2
    assert_array_equal(x, [[0, 0.5], [2, 2]])
    assert_array_equal(view, [2, 2])
