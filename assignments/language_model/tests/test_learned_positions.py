"""Public checks of learned_positions.py."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 5))


def positions(component, make, max_len, features, seed):
    """Build the module with a drawn table; return both."""
    weight = make.normal(max_len, features, seed=seed)
    return component.build("LearnedPositionalEmbedding", max_len, features).load(
        {"weight": weight}
    ), weight


@pytest.mark.criterion(points=1, source="slides, pages 25 and 26")
def test_cat(component, expect):
    """ "cat" becomes [0.52, 0.29, -0.17, 0.8] at position 1, [0.47, 0.31, -0.2, 0.82] at 2"""
    table = [[0.1, 0.1, 0.1, 0.1], [0.02, -0.01, 0.03, 0.0], [-0.03, 0.01, 0.0, 0.02], [9.0] * 4]
    module = component.build("LearnedPositionalEmbedding", 4, 4)
    module.load({"weight": torch.tensor(table)})
    cat = [0.5, 0.3, -0.2, 0.8]
    result = expect.shape(module(torch.tensor([[cat, cat, cat]])).output, (1, 3, 4), names="B T D")
    expect.close(result[0, 1], [0.52, 0.29, -0.17, 0.8], '"cat" at position 1', names="D")
    expect.close(result[0, 2], [0.47, 0.31, -0.2, 0.82], '"cat" at position 2', names="D")


@pytest.mark.criterion(points=1, source="slides, page 26")
def test_start(component, expect):
    """at the start the vectors have mean 0 and standard deviation 0.02, and no two are alike"""
    state = component.build("LearnedPositionalEmbedding", 250, 40).state()
    weight = state.entries.get("weight")
    expect.that(weight is not None, 'the state_dict has no "weight"')
    weight = expect.shape(weight, (250, 40), "weight", names="max_len D").double()
    # 10,000 numbers: the bounds are ten standard errors away and more.
    mean, deviation = float(weight.mean()), float(weight.std())
    expect.that(
        0.018 < deviation < 0.022,
        f"the standard deviation of weight is {deviation:.3g}, expected about 0.02",
    )
    expect.that(abs(mean) < 0.002, f"the mean of weight is {mean:.3g}, expected about 0")
    different = len(weight.unique(dim=0)) == 250
    expect.that(different, "some of the 250 vectors are the same; each is drawn for itself")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_parameters(component, expect):
    """the only parameter, and the only entry of the state_dict, is weight (max_len, D)"""
    state = component.build("LearnedPositionalEmbedding", 7, 3).state()
    expect.keys(
        list(state.entries), ["weight"], "the keys of the state_dict", learned=state.parameters
    )
    expect.keys(list(state.parameters), ["weight"], "the parameters", learned=state.parameters)
    expect.shape(state.parameters["weight"], (7, 3), "weight", names="max_len D")


@pytest.mark.criterion(points=0.5, source="slides, pages 23 and 26")
@given(seed=SEEDS, shape=SHAPES, more=st.integers(1, 3))
def test_vectors_are_added(component, expect, make, seed, shape, more):
    """the result minus x is the vectors of the positions 0 to T - 1, in every sequence"""
    x = make.normal(*shape, seed=seed)
    module, weight = positions(component, make, shape[1] + more, shape[2], seed + 1)
    result = expect.shape(module(x).output, shape, names="B T D")
    right = weight[: shape[1]].expand(shape)
    expect.close(result - x, right, "the result minus the input", names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_longest_sequence(component, expect, make):
    """max_len tokens are allowed; one more is a ValueError"""
    module, _ = positions(component, make, 4, 3, 1)
    expect.shape(module(torch.zeros(2, 4, 3)).output, (2, 4, 3), names="B T D")
    expect.raises(module(torch.zeros(2, 5, 3)), "ValueError")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_no_dropout(component, expect, make):
    """training gives the same as evaluation: nothing is dropped here"""
    x = make.normal(2, 32, 32, seed=1)
    module, _ = positions(component, make, 33, 32, 2)
    right = expect.shape(module.train(False)(x).output, x.shape, names="B T D")
    found = module.train().asking(seed=3)(x).output
    expect.close(found, right, "the result in training", names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_dtypes(component, expect, make):
    """float64 in, float64 out; bfloat16 in, bfloat16 out"""
    x = make.normal(2, 3, 4, seed=1)
    module, _ = positions(component, make, 5, 4, 2)
    right = module(x).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, what = x.to(dtype), f"the result for {dtype}"
        expect.close(module.to(dtype)(same).output, right, what, like=same, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 26")
def test_input_untouched(component, expect, make):
    """the input is left as it was"""
    x = make.normal(2, 3, 4, seed=1)
    module, _ = positions(component, make, 4, 4, 2)
    expect.unchanged(module.asking(keep_inputs=True)(x), x)
