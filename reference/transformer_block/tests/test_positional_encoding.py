"""Hidden checks of positional_encoding.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
BATCHES = st.integers(1, 3)
LENGTHS = st.integers(1, 6)
PAIRS = st.integers(1, 6)
HINT = "x and the encoding are added first, then dropout takes the sum"


def far(length):
    """Scale the tolerance: float32 knows the angle of position p to about p * 1e-7."""
    return 1 + length / 50


@pytest.mark.criterion(points=1, source="slides, page 24")
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


@pytest.mark.criterion(points=1, source="slides, pages 23 to 25")
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, pairs=PAIRS)
def test_module(component, reference, expect, make, seed, batch, length, pairs):
    """PositionalEncoding is right for random inputs, contiguous or not"""
    x = make.normal(length, batch, 2 * pairs, seed=seed).transpose(0, 1)
    right = reference.build("PositionalEncoding", 2 * pairs).train(False)(x).output
    actual = component.build("PositionalEncoding", 2 * pairs).train(False)(x).output
    expect.close(actual, right, like=x, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 25")
def test_dtypes(component, expect, make):
    """float64 in, float64 out; bfloat16 in, bfloat16 out; right at far positions too"""
    x = make.normal(1, 300, 8, seed=1)  # bfloat16 cannot count beyond 256
    module = component.build("PositionalEncoding", 8).train(False)
    right = module(x).output
    for dtype in (torch.float64, torch.bfloat16):
        same = x.to(dtype)
        scale = far(300) if dtype == torch.float64 else 1.0
        expect.close(
            module(same).output,
            right,
            f"the result for {dtype}",
            like=same,
            scale=scale,
            names="B T D",
        )


@pytest.mark.criterion(points=1, source="slides, page 25")
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, pairs=PAIRS)
def test_input_gradient(component, reference, expect, make, seed, batch, length, pairs):
    """gradients flow back to the input"""
    x = make.normal(batch, length, 2 * pairs, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*x.shape, seed=seed + 1, dtype=torch.float64)
    right = (
        reference.build("PositionalEncoding", 2 * pairs).train(False).asking(cotangent=cotangent)(x)
    )
    actual = (
        component.build("PositionalEncoding", 2 * pairs).train(False).asking(cotangent=cotangent)(x)
    )
    expect.close(actual.gradients[0], right.gradients[0], "the input's gradient", names="B T D")


@pytest.mark.criterion(points=1, source="slides, page 25")
def test_dropout(component, expect, make):
    """in training, single values of the sum are dropped and the others scaled up"""
    # At least 2, so that no sum with a sine or a cosine is near 0.
    x = make.normal(2, 64, 64, seed=1).abs() + 2
    answer = component.build("PositionalEncoding", 64).train(False)(x)
    whole = expect.shape(answer.output, x.shape, names="B T D")
    for rate in (0.4, 0.6):
        answer = component.build("PositionalEncoding", 64, dropout=rate).train().asking(seed=2)(x)
        result = expect.shape(answer.output, x.shape, names="B T D")
        dropped = result.abs() < 0.5
        share = float(dropped.double().mean())
        # 8192 values: the bounds are more than nine standard deviations away.
        near = abs(share - rate) < 0.05
        expect.that(near, f"a share of {share:.3f} was dropped, expected about {rate}", hint=HINT)
        single = all(bool(dropped.any(d).all() and (~dropped).any(d).all()) for d in (1, 2))
        expect.that(single, "whole tokens or whole features were dropped, not single values")
        right = (whole / (1 - rate)).masked_fill(dropped, 0.0)
        expect.close(result, right, "the sum, dropped or scaled up", names="B T D")


@pytest.mark.criterion(points=1, source="slides, page 25")
def test_dropout_off(component, expect, make):
    """nothing is dropped in evaluation, nor in training unless a rate is given"""
    x = make.normal(2, 32, 16, seed=1)
    plain = component.build("PositionalEncoding", 16, dropout=0.0).train(False)(x)
    right = expect.shape(plain.output, x.shape, names="B T D")
    answer = component.build("PositionalEncoding", 16, dropout=0.5).train(False).asking(seed=2)(x)
    expect.close(answer.output, right, "the result in evaluation", names="B T D")
    for module in (
        component.build("PositionalEncoding", 16),
        component.build("PositionalEncoding", 16, dropout=0.0),
    ):
        answer = module.train().asking(seed=3)(x)
        expect.close(answer.output, right, "the result in training without dropout", names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 25")
def test_input_untouched(component, expect, make):
    """the input is left as it was"""
    x = make.normal(2, 3, 4, seed=3)
    expect.unchanged(
        component.build("PositionalEncoding", 4).train(False).asking(keep_inputs=True)(x), x
    )


@pytest.mark.criterion(points=0.5, source="slides, page 25")
def test_device(component, expect):
    """no device is written into the code"""
    x = torch.empty(2, 3, 4, device="meta")
    module = component.build("PositionalEncoding", 4).train(False).to(device="meta")
    expect.follows_device(module(x), (2, 3, 4), names=("B T D",))
