"""Hidden checks of learned_positions.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# Few examples are drawn; the first uses the first entry of every list, so those come first.
BATCHES = st.sampled_from([3, 2, 1])
LENGTHS = st.sampled_from([4, 5, 2, 1])
FEATURES = st.sampled_from([6, 3, 8, 1])
MORE = st.sampled_from([2, 1, 4, 30])  # positions beyond the sequence's


def positions(source, make, max_len, features, seed, dtype=torch.float32):
    """Build the module with a random table."""
    state = {"weight": make.normal(max_len, features, seed=seed, dtype=dtype)}
    module = source.build("LearnedPositionalEmbedding", max_len, features)
    return module.to(dtype).load(state).train(False)


@pytest.mark.criterion(points=1, source="slides, pages 23 and 26", examples=2)
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, features=FEATURES, more=MORE)
def test_random(component, reference, expect, make, seed, batch, length, features, more):
    """the result is right for random tables and inputs of any size"""
    x = make.normal(batch, length, features, seed=seed)
    right = positions(reference, make, length + more, features, seed + 1)(x).output
    actual = positions(component, make, length + more, features, seed + 1)(x).output
    expect.close(actual, right, like=x, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout", examples=2)
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, features=FEATURES, more=MORE)
def test_input_gradient(component, reference, expect, make, seed, batch, length, features, more):
    """the gradient of the input is right"""
    x, cotangent = (
        make.normal(batch, length, features, seed=seed + k, dtype=torch.float64) for k in (0, 1)
    )
    arguments = (make, length + more, features, seed + 2, torch.float64)
    right = positions(reference, *arguments).asking(cotangent=cotangent)(x).gradients[0]
    actual = positions(component, *arguments).asking(cotangent=cotangent)(x).gradients[0]
    expect.close(actual, right, "the input's gradient", names="B T D")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, features=FEATURES, more=MORE)
def test_weight_gradient(component, reference, expect, make, seed, batch, length, features, more):
    """the gradient of weight is right: the sum over the batch, 0 for unused positions"""
    x, cotangent = (
        make.normal(batch, length, features, seed=seed + k, dtype=torch.float64) for k in (0, 1)
    )
    arguments = (make, length + more, features, seed + 2, torch.float64)
    right = positions(reference, *arguments).asking(cotangent=cotangent)(x).parameter_gradients
    actual = positions(component, *arguments).asking(cotangent=cotangent)(x).parameter_gradients
    found = actual.get("weight")
    expect.close(found, right["weight"], "the gradient of weight", scale=2, names="max_len D")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, lengths=st.permutations([1, 2, 4]))
def test_lengths_in_turn(component, reference, expect, make, seed, lengths):
    """one module gives right results for different lengths and batches, call after call"""
    module = positions(component, make, 5, 3, seed)
    right = positions(reference, make, 5, 3, seed)
    for batch, length in enumerate(lengths, start=1):
        x = make.normal(batch, length, 3, seed=seed + length)
        expect.close(module(x).output, right(x).output, names="B T D")
    # What a call kept of the table is not that of a later one.
    for one in (module, right):
        one.load({"weight": make.normal(5, 3, seed=seed + 9)})
    expect.close(module(x).output, right(x).output, "the result with other weights", names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
@pytest.mark.parametrize(("max_len", "length"), [(1, 2), (1, 5), (3, 4), (5, 11)])
def test_too_long(component, expect, make, max_len, length):
    """a sequence longer than max_len raises ValueError, whatever max_len and the length are"""
    module = positions(component, make, max_len, 2, 1)
    expect.raises(module(make.normal(2, length, 2, seed=2)), "ValueError")


@pytest.mark.criterion(points=0.5, source="handout")
def test_non_contiguous(component, reference, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x = make.normal(4, 6, 4, seed=1)
    module, right = (positions(source, make, 7, 4, 2) for source in (component, reference))
    for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 4)):
        expect.close(module(view).output, right(view).output, names="B T D")
