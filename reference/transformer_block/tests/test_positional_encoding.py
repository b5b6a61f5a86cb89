"""Hidden checks of positional_encoding.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
BATCHES = st.integers(1, 3)
LENGTHS = st.integers(1, 6)
PAIRS = st.integers(1, 6)


def far(length):
    """Scale the tolerance: float32 knows the angle of position p to about p * 1e-7."""
    return 1 + length / 50


@pytest.mark.criterion(points=1, source="slides, page 24", examples=2)
@given(length=LENGTHS, pairs=st.integers(1, 20))
def test_encoding(component, reference, expect, length, pairs):
    """sinusoidal_encoding is right for any number of positions and features"""
    for positions in (length, 512):
        right = reference.call("sinusoidal_encoding", positions, 2 * pairs).output
        actual = component.call("sinusoidal_encoding", positions, 2 * pairs).output
        expect.close(
            actual,
            right,
            f"the encoding of {positions} positions",
            scale=far(positions),
            names="T D",
        )
        exact = actual.dtype in (torch.float32, torch.float64)
        expect.that(exact, f"the encoding is {actual.dtype}, expected float32 or float64")


@pytest.mark.criterion(points=0.5, source="slides, pages 23 to 25", examples=3)
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, pairs=PAIRS)
def test_module(component, reference, expect, make, seed, batch, length, pairs):
    """PositionalEncoding is right for random inputs"""
    x = make.normal(batch, length, 2 * pairs, seed=seed)
    right = reference.build("PositionalEncoding", 2 * pairs).train(False)(x).output
    actual = component.build("PositionalEncoding", 2 * pairs).train(False)(x).output
    expect.close(actual, right, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout", examples=2)
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, pairs=PAIRS)
def test_input_gradient(component, reference, expect, make, seed, batch, length, pairs):
    """the gradient of the input is right"""
    x = make.normal(batch, length, 2 * pairs, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*x.shape, seed=seed + 1, dtype=torch.float64)
    right = (
        reference.build("PositionalEncoding", 2 * pairs).train(False).asking(cotangent=cotangent)(x)
    )
    actual = (
        component.build("PositionalEncoding", 2 * pairs).train(False).asking(cotangent=cotangent)(x)
    )
    expect.close(actual.gradients[0], right.gradients[0], "the input's gradient", names="B T D")
