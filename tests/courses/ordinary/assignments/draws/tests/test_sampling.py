"""Public tests of sampling."""

import random

import numpy as np
import pytest
import torch
from sampling import bootstrap, dropout, estimate_pi, shuffled, throw, walk


@pytest.fixture(autouse=True)
def seeds():
    """Every test begins with the same seeds."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


def test_shuffled():
    """all items are there, in another order"""
    items = list(range(20))
    found = shuffled(items)
    assert found != items == list(range(20))
    assert sorted(found) == items


def test_same_seed_same_throws():
    """the same seed gives the same numbers"""
    first = throw(10)
    random.seed(0)
    assert throw(10) == first
    assert throw(10) != first


def test_draws_between():
    """what the test draws follows what was drawn before"""
    expected = [random.randint(1, 6) for _ in range(5)]
    random.seed(0)
    found = throw(2)
    found.append(random.randint(1, 6))
    found += throw(2)
    assert found == expected


def test_bootstrap():
    """means of samples are near the mean"""
    values = np.arange(50.0)
    means = bootstrap(values, 200)
    assert means.shape == (200,)
    assert means.mean() == pytest.approx(24.5, abs=2)
    assert 1 < means.std() < 4


def test_walk():
    """a generator of one's own"""
    places = walk(5, np.random.default_rng(3))
    steps = np.random.default_rng(3).normal(size=5)
    np.testing.assert_allclose(np.diff(places), steps)
    assert places[0] == 0


def test_dropout():
    """about a quarter becomes 0, the rest grows"""
    x = torch.ones(2000)
    found = dropout(x, 0.25)
    assert 0.2 < (found == 0).float().mean() < 0.3
    torch.testing.assert_close(found[found != 0].unique(), torch.tensor([4 / 3]))


def test_estimate():
    """pi, more or less"""
    assert abs(estimate_pi(4000) - 3.14159) < 0.15
