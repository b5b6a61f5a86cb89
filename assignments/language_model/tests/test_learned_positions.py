"""Public checks of learned_positions.py."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(1, 5))


def positions(component, make, max_len, features, seed):
    """Build the module with a random table; return both."""
    weight = make.normal(max_len, features, seed=seed)
    module = component.build("LearnedPositionalEmbedding", max_len, features)
    return module.load({"weight": weight}).train(False), weight


def expect_in_both_modes(expect, found, right, what, names):
    """Expect the same result in evaluation and training mode; `found` has them in this order.

    A mistake in both modes is the subject of another check. If the modes differ, the message names
    the wrong one.
    """
    first, second = found
    if first is not None and second is not None:
        like = (first.shape, first.dtype) == (second.shape, second.dtype)
        alike = like and torch.allclose(first, second, rtol=1e-5, atol=1e-5)
    else:
        alike = first is second
    for mode, one in zip(("evaluation", "training"), found, strict=True):
        if not alike:
            expect.close(one, right, f"{what} in {mode} mode", names=names)


@pytest.mark.criterion(points=1, source="slides, pages 25 and 26")
def test_cat(component, expect):
    """ "cat" becomes [0.52, 0.29, -0.17, 0.8] at position 1 and [0.47, 0.31, -0.2, 0.82] at 2"""
    table = [[0.1, 0.1, 0.1, 0.1], [0.02, -0.01, 0.03, 0.0], [-0.03, 0.01, 0.0, 0.02], [9.0] * 4]
    module = component.build("LearnedPositionalEmbedding", 4, 4)
    module.load({"weight": torch.tensor(table)}).train(False)
    cat = [0.5, 0.3, -0.2, 0.8]
    result = expect.shape(module(torch.tensor([[cat, cat, cat]])).output, (1, 3, 4), names="B T D")
    for position, right in ((1, [0.52, 0.29, -0.17, 0.8]), (2, [0.47, 0.31, -0.2, 0.82])):
        what = f'"cat" at position {position}, in evaluation mode,'
        expect.close(result[0, position], right, what, names="D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_start(component, expect):
    """the initial vectors have mean 0 and standard deviation 0.02, and all differ"""
    weight = component.build("LearnedPositionalEmbedding", 250, 40).state().entries.get("weight")
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
    expect.that(different, "some of the 250 vectors are equal, expected 250 different ones")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_normal_start(component, expect):
    """every number of the initial table is drawn independently from a normal distribution"""
    weight = component.build("LearnedPositionalEmbedding", 100, 100).state().entries.get("weight")
    expect.that(weight is not None, 'the state_dict has no "weight"')
    weight = expect.shape(weight, (100, 100), "weight", names="max_len D").double()
    z = (weight - weight.mean()) / weight.std().clamp(min=1e-12)
    # Of 10,000 normal numbers 68.3 % lie within one deviation and 4.6 % beyond two; the bounds are
    # at least seven standard errors away.
    near, far = float((z.abs() < 1).double().mean()), float((z.abs() > 2).double().mean())
    expect.that(
        0.645 < near < 0.72 and 0.028 < far < 0.065,
        f"{near:.1%} of the numbers are within one standard deviation and {far:.1%} beyond two, "
        "expected 68.3% and 4.6% (a normal distribution)",
    )
    # The mean of a row or column of 100 has a deviation of 0.1, but much more if its numbers
    # depend on each other.
    for dim, what in ((0, "columns"), (1, "rows")):
        # The deviation of a row or column of 100 is off by 7 % or so, and not by half.
        size = z.std(dim=dim)
        drawn = bool(((size > 0.5) & (size < 1.5)).all())
        fact = f"some {what} of weight have far smaller or larger numbers than others"
        expect.that(
            drawn,
            fact,
            hint="draw every number from the same distribution, including the first row",
        )
        spread = float(z.mean(dim=dim).std())
        fact = f"the numbers in the same {what[:-1]} of weight depend on each other"
        expect.that(
            0.04 < spread < 0.18,
            fact,
            hint="draw every number independently, for example with torch.randn",
        )


@pytest.mark.criterion(points=0.5, form=True, source="slides, page 26")
def test_parameters(component, expect):
    """the only parameter and the only state_dict entry is weight (max_len, D)"""
    state = component.build("LearnedPositionalEmbedding", 7, 3).state()
    expect.keys(
        list(state.entries), ["weight"], "the keys of the state_dict", learned=state.parameters
    )
    expect.keys(list(state.parameters), ["weight"], "the parameters", learned=state.parameters)
    expect.shape(state.parameters["weight"], (7, 3), "weight", names="max_len D")


@pytest.mark.criterion(points=0.5, source="slides, pages 23 and 26", examples=2)
@given(seed=SEEDS, shape=SHAPES, more=st.integers(1, 3))
def test_vectors_are_added(component, expect, make, seed, shape, more):
    """the result minus x is rows 0 to T - 1 of the table, in every sequence"""
    x = make.normal(*shape, seed=seed)
    module, weight = positions(component, make, shape[1] + more, shape[2], seed + 1)
    result = expect.shape(module(x).output, shape, names="B T D")
    right = weight[: shape[1]].expand(shape)
    what = "the result minus the input, in evaluation mode,"
    expect.close(result - x, right, what, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_longest_sequence(component, expect, make):
    """max_len tokens are accepted, max_len + 1 raise ValueError"""
    module, _ = positions(component, make, 4, 3, 1)
    expect.shape(module(torch.zeros(2, 4, 3)).output, (2, 4, 3), names="B T D")
    expect.raises(module(torch.zeros(2, 5, 3)), "ValueError")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_no_dropout(component, expect, make):
    """training mode gives the same results and gradients as evaluation mode (no dropout)"""
    x, cotangent = make.normal(2, 32, 32, seed=1), make.normal(2, 32, 32, seed=3)
    module, weight = positions(component, make, 33, 32, 2)
    answers = [module.train(on).asking(seed=3, cotangent=cotangent)(x) for on in (False, True)]
    results = [expect.shape(answer.output, x.shape, names="B T D") for answer in answers]
    expect_in_both_modes(expect, results, x + weight[:32], "the result", "B T D")
    gradients = [answer.parameter_gradients.get("weight") for answer in answers]
    right = torch.cat([cotangent.sum(dim=0), torch.zeros(1, 32)])
    expect_in_both_modes(expect, gradients, right, "the gradient of weight", "max_len D")
    gradients = [answer.gradients[0] for answer in answers]
    expect_in_both_modes(expect, gradients, cotangent, "the gradient of the input", "B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_dtypes(component, expect, make):
    """the result has the input's dtype: float32, float64 or bfloat16"""
    x = make.normal(2, 3, 4, seed=1)
    module, _ = positions(component, make, 5, 4, 2)
    right = module(x).output
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, what = x.to(dtype), f"the result for {dtype}, in evaluation mode,"
        expect.close(module.to(dtype)(same).output, right, what, like=same, names="B T D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect, make):
    """the input tensor is not modified"""
    x = make.normal(2, 3, 4, seed=1)
    module, _ = positions(component, make, 4, 4, 2)
    expect.unchanged(module.asking(keep_inputs=True)(x), x)


@pytest.mark.criterion(points=0.5, source="handout")
def test_gradients_flow(component, expect, make):
    """the gradient reaches x unchanged, and the table as the sum over the batch

    A vector is added once in every sequence of the batch, so its gradient is the sum. An unused
    vector has the gradient 0.
    """
    x, cotangent = (make.normal(2, 3, 4, seed=seed, dtype=torch.float64) for seed in (1, 2))
    module, _ = positions(component, make, 5, 4, 3)
    answer = module.to(torch.float64).asking(cotangent=cotangent)(x)
    what = "the gradient of the input, in evaluation mode,"
    expect.close(answer.gradients[0], cotangent, what, names="B T D")
    right = torch.cat([cotangent.sum(dim=0), torch.zeros(2, 4)])
    found, what = answer.parameter_gradients.get("weight"), "the gradient of weight, in evaluation"
    expect.close(found, right, f"{what} mode,", names="max_len D")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """results are on the input's device (no hard-coded device)"""
    x = torch.empty(2, 3, 4, device="meta")
    module = component.build("LearnedPositionalEmbedding", 5, 4).to(device="meta").train(False)
    expect.follows_device(module(x), (2, 3, 4), names=("B T D",))
