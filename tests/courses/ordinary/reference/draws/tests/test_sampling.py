"""Hidden tests of sampling."""

import random

import numpy as np
import sampling
import torch
from reference import shuffled as right_shuffled


def test_dropout_draws_once():
    """the numbers that follow are those that follow one draw"""
    x = torch.randn(3, 4)
    torch.manual_seed(7)
    kept = torch.rand(3, 4) >= 0.5
    after = torch.rand(1)
    torch.manual_seed(7)
    torch.testing.assert_close(sampling.dropout(x, 0.5), x * kept * 2)
    assert torch.equal(torch.rand(1), after)


def test_shuffled_as_the_solution():
    """the same seed gives the solution's order"""
    for seed in range(3):
        random.seed(seed)
        expected = right_shuffled("abcdefgh")
        random.seed(seed)
        assert sampling.shuffled("abcdefgh") == expected


def test_bootstrap_by_choice():
    """samples come from np.random.choice"""
    np.random.seed(4)
    values = np.array([1.0, 5.0, 7.5])
    expected = [np.random.choice(values, 3).mean() for _ in range(4)]
    np.random.seed(4)
    np.testing.assert_allclose(sampling.bootstrap(values, 4), expected)


def test_generator_goes_on():
    """two walks with one generator differ"""
    generator = np.random.default_rng(0)
    first = sampling.walk(4, generator)
    assert not np.array_equal(first, sampling.walk(4, generator))


def test_all_sides():
    """every side comes up, and no other"""
    random.seed(5)
    assert set(sampling.throw(200)) == {1, 2, 3, 4, 5, 6}
