"""Hidden checks of learned_positions.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# Few examples are drawn and the first takes the first of every list: a telling one.
BATCHES = st.sampled_from([3, 2, 1])
LENGTHS = st.sampled_from([4, 5, 2, 1])
FEATURES = st.sampled_from([6, 3, 8, 1])
MORE = st.sampled_from([2, 1, 4, 30])  # positions beyond the sequence's


def positions(source, make, max_len, features, seed, dtype=torch.float32):
    """Build the module with a drawn table."""
    state = {"weight": make.normal(max_len, features, seed=seed, dtype=dtype)}
    return source.build("LearnedPositionalEmbedding", max_len, features).to(dtype).load(state)


@pytest.mark.criterion(points=1, source="slides, pages 23 and 26")
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, features=FEATURES, more=MORE)
def test_random(component, reference, expect, make, seed, batch, length, features, more):
    """the sum is right for random tables and inputs of any size"""
    x = make.normal(batch, length, features, seed=seed)
    right = positions(reference, make, length + more, features, seed + 1)(x).output
    actual = positions(component, make, length + more, features, seed + 1)(x).output
    expect.close(actual, right, like=x, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
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


@pytest.mark.criterion(points=1, source="slides, page 26")
@given(seed=SEEDS, batch=BATCHES, length=LENGTHS, features=FEATURES, more=MORE)
def test_weight_gradient(component, reference, expect, make, seed, batch, length, features, more):
    """the gradient of weight is right: the sum over the batch, and 0 for positions not in use"""
    x, cotangent = (
        make.normal(batch, length, features, seed=seed + k, dtype=torch.float64) for k in (0, 1)
    )
    arguments = (make, length + more, features, seed + 2, torch.float64)
    right = positions(reference, *arguments).asking(cotangent=cotangent)(x).parameter_gradients
    actual = positions(component, *arguments).asking(cotangent=cotangent)(x).parameter_gradients
    found = actual.get("weight")
    expect.close(found, right["weight"], "the gradient of weight", scale=2, names="max_len D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_normal_start(component, expect):
    """at the start every number is drawn for itself, from a normal distribution"""
    weight = component.build("LearnedPositionalEmbedding", 100, 100).state().entries.get("weight")
    expect.that(weight is not None, 'the state_dict has no "weight"')
    weight = expect.shape(weight, (100, 100), "weight", names="max_len D").double()
    z = (weight - weight.mean()) / weight.std().clamp(min=1e-12)
    # Of 10,000 normal numbers 68.3 % lie within one deviation and 4.6 % beyond two; the bounds are
    # at least seven standard errors away.
    near, far = float((z.abs() < 1).double().mean()), float((z.abs() > 2).double().mean())
    expect.that(
        0.645 < near < 0.72 and 0.028 < far < 0.065,
        f"a share of {near:.3f} lies within one standard deviation and one of {far:.3f} beyond two,"
        " where a normal distribution has 0.683 and 0.046",
    )
    # The mean of a row or column of 100 has a deviation of 0.1; where its numbers hang together,
    # much more.
    for dim, what in ((0, "columns"), (1, "rows")):
        spread = float(z.mean(dim=dim).std())
        fact = f"the {what} of weight differ from one another as if their numbers hung together"
        expect.that(0.04 < spread < 0.18, fact, hint="draw every number for itself")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
@given(seed=SEEDS, lengths=st.permutations([1, 2, 4]))
def test_lengths_in_turn(component, reference, expect, make, seed, lengths):
    """one module takes shorter and longer sequences and other batches in turn"""
    module = positions(component, make, 5, 3, seed)
    right = positions(reference, make, 5, 3, seed)
    for batch, length in enumerate(lengths, start=1):
        x = make.normal(batch, length, 3, seed=seed + length)
        expect.close(module(x).output, right(x).output, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
@pytest.mark.parametrize(("max_len", "length"), [(1, 2), (1, 5), (3, 4), (5, 11)])
def test_too_long(component, expect, make, max_len, length):
    """a longer sequence is a ValueError however long it is, also where there is one vector only"""
    module = positions(component, make, max_len, 2, 1)
    expect.raises(module(make.normal(2, length, 2, seed=2)), "ValueError")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_non_contiguous(component, reference, expect, make):
    """a transposed, strided or expanded input gives the same result as a contiguous one"""
    x = make.normal(4, 6, 4, seed=1)
    module, right = (positions(source, make, 7, 4, 2) for source in (component, reference))
    for view in (x.transpose(0, 1), x[:, ::2], x[:1].expand(2, 6, 4)):
        expect.close(module(view).output, right(view).output, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_device(component, expect):
    """no device is written into the code"""
    x = torch.empty(2, 3, 4, device="meta")
    module = component.build("LearnedPositionalEmbedding", 5, 4).to(device="meta")
    expect.follows_device(module(x), (2, 3, 4), names=("B T D",))
