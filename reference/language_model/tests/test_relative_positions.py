"""Hidden checks of relative_positions.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# Few examples are drawn; the first uses the first entry of every list, so those come first.
HEADS = st.sampled_from([3, 2, 1])
FAR = st.sampled_from([2, 3, 1, 8])  # max_distance
LENGTHS = st.sampled_from([7, 4, 2, 1])
# B, H, T, d_k, d_v
SIZES = st.tuples(*(st.sampled_from(n) for n in ([2, 3], [3, 2], [4, 5, 1], [5, 4, 1], [3, 1])))
MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
ATTEND = "relative_attention"
PAIR = ("output", "weights")


def table(source, make, heads, far, seed, dtype=torch.float32):
    """Build RelativePositionBias with a random table."""
    state = {"weight": make.normal(2 * far + 1, heads, seed=seed, dtype=dtype)}
    return source.build("RelativePositionBias", heads, far).to(dtype).load(state)


def inputs(make, sizes, seed, kind):
    """Draw query, key, value, bias and mask."""
    batch, heads, length, d_k, d_v = sizes
    query, key, value = (
        make.normal(batch, heads, length, size, seed=seed + number, dtype=torch.float64)
        for number, size in enumerate((d_k, d_k, d_v))
    )
    bias = make.normal(heads, length, length, seed=seed + 3, dtype=torch.float64)
    if kind == "none":
        return query, key, value, bias, None
    shape = (length, length) if kind == "(T, T)" else (batch, length, length)
    return query, key, value, bias, make.mask(*shape, seed=seed)


def expect_pair(component, reference, expect, asked, scale=1.0):
    """Expect the component to attend as the reference does."""
    right = reference.call(ATTEND, *asked).tensors(*PAIR)
    actual = component.call(ATTEND, *asked).tensors(*PAIR)
    expect.close(actual[1], right[1], "the matrix of weights", scale=scale, names="B H T T")
    expect.close(actual[0], right[0], "the output", scale=scale, names="B H T d_v")


@pytest.mark.criterion(points=0.5, source="slides, page 27", examples=2)
@given(length=st.sampled_from([6, 9, 3, 1]), far=st.sampled_from([3, 1, 4, 12]))
def test_distances_of_any_size(component, reference, expect, length, far):
    """relative_distances is right for any length and max_distance"""
    right = reference.call("relative_distances", length, far).output
    actual = component.call("relative_distances", length, far).output
    expect.close(actual, right, "the table of distances", names="T T")


@pytest.mark.criterion(points=1, source="slides, page 27")
@given(seed=SEEDS, heads=HEADS, far=FAR, length=LENGTHS)
def test_random_bias(component, reference, expect, make, seed, heads, far, length):
    """the bias is right for random tables, heads, maximum distances and lengths"""
    right = table(reference, make, heads, far, seed)(length).output
    actual = table(component, make, heads, far, seed)(length).output
    expect.close(actual, right, "the bias", names="H T T")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, heads=HEADS, far=FAR, length=LENGTHS)
def test_table_gradient(component, reference, expect, make, seed, heads, far, length):
    """the gradient of weight is right: the sum over all pairs with a distance"""
    cotangent = make.normal(heads, length, length, seed=seed + 1, dtype=torch.float64)
    arguments = (make, heads, far, seed, torch.float64)
    right = table(reference, *arguments).asking(cotangent=cotangent)(length).parameter_gradients
    actual = table(component, *arguments).asking(cotangent=cotangent)(length).parameter_gradients
    what, names = "the gradient of weight", "2*max_distance+1 H"
    expect.close(actual.get("weight"), right["weight"], what, scale=5, names=names)


@pytest.mark.criterion(points=1.5, source="slides, page 27; session, knowledge point 3", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_random_attention(component, reference, expect, make, seed, sizes, kind):
    """relative_attention is right for random sizes, biases and masks, in float64"""
    expect_pair(component, reference, expect, inputs(make, sizes, seed, kind))


@pytest.mark.criterion(points=1, source="handout")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_gradients(component, reference, expect, make, seed, sizes, kind):
    """the gradients of query, key, value and bias are right"""
    asked, (batch, heads, length, _, d_v) = inputs(make, sizes, seed, kind), sizes
    cotangent = make.normal(batch, heads, length, d_v, seed=seed + 4, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call(ATTEND, *asked).gradients
    actual = component.asking(cotangent=cotangent).call(ATTEND, *asked).gradients
    for number, name in enumerate(("query", "key", "value", "bias")):
        expect.close(actual[number], right[number], f"the gradient of the {name}", scale=5)


@pytest.mark.criterion(points=0.5, source="handout")
def test_non_contiguous(component, reference, expect, make):
    """transposed, strided and expanded inputs give the same result as contiguous ones"""
    query = make.normal(2, 4, 3, 5, seed=1).transpose(1, 2)
    key, value = make.normal(2, 3, 8, 5, seed=2)[:, :, ::2], make.normal(2, 1, 4, 6, seed=3)
    bias = make.normal(3, 4, 4, seed=4).transpose(1, 2)
    mask = make.mask(2, 4, 4, seed=5).transpose(1, 2) | torch.eye(4, dtype=torch.bool)
    asked = (query, key, value.expand(2, 3, 4, 6), bias, mask)
    expect_pair(component, reference, expect, asked, scale=2)
