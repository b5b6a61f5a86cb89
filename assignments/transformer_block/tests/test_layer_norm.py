"""Public checks of layer_norm.py. Source of the numbers: slides, pages 4 to 8."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
LEADING = st.lists(st.integers(1, 4), max_size=3)
FEATURES = st.integers(4, 9)


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_worked_example(component, expect):
    """[2, 4, 6, 8] becomes [-1.34, -0.45, 0.45, 1.34]

    The page puts eps inside the root and then divides by sqrt(5) alone; the numbers here keep
    eps. The two differ by 1.3e-6.
    """
    answer = component.call("layer_norm", torch.tensor([2.0, 4.0, 6.0, 8.0]))
    expect.close(answer.output, [-1.3416394, -0.4472131, 0.4472131, 1.3416394], names="D")


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_population_variance(component, expect):
    """the variance is divided by n, not by n - 1"""
    # Two features: n - 1 would shrink the result by sqrt(2).
    answer = component.call("layer_norm", torch.tensor([[1.0, 3.0], [-5.0, 5.0]]), eps=0.0)
    expect.close(answer.output, [[-1.0, 1.0], [-1.0, 1.0]], names="... D")


@pytest.mark.criterion(points=1, source="slides, page 8")
def test_eps_inside_the_root(component, expect):
    """eps is added to the variance, inside the square root"""
    # The deviations are -1 and 1, so the answer is 1 / sqrt(1 + 3) with eps = 3.
    answer = component.call("layer_norm", torch.tensor([4.0, 6.0]), eps=3.0)
    expect.close(answer.output, [-0.5, 0.5], names="D")


@pytest.mark.criterion(points=1, source="slides, page 8")
@given(seed=SEEDS, leading=LEADING, features=FEATURES)
def test_mean_and_variance(component, expect, make, seed, leading, features):
    """every vector of features comes out with mean 0 and variance 1"""
    x = make.normal(*leading, features, seed=seed, mean=2.0, deviation=3.0)
    answer = component.call("layer_norm", x, eps=0.0)
    result = expect.shape(answer.output, x.shape, names="... D")
    expect.close(result.mean(-1), torch.zeros(leading), "the mean of the result", names="...")
    variance = result.var(-1, correction=0)
    expect.close(variance, torch.ones(leading), "the variance of the result", scale=5, names="...")


@pytest.mark.criterion(points=1, source="slides, page 8")
@given(seed=SEEDS, shift=st.integers(-8, 8), factor=st.sampled_from([0.5, 2.0, 4.0]))
def test_shift_and_scale(component, expect, make, seed, shift, factor):
    """adding a constant to a vector, or multiplying it by one, changes nothing"""
    x = make.normal(3, 6, seed=seed)
    plain = component.call("layer_norm", x, eps=0.0).output
    moved = component.call("layer_norm", x * factor + shift, eps=0.0).output
    expect.close(
        moved, plain, "the result for the shifted and scaled input", scale=5, names="... D"
    )


@pytest.mark.criterion(points=1, source="slides, page 4")
def test_parameters(component, expect):
    """LayerNorm has a weight of ones and a bias of zeros, and nothing else"""
    state = component.build("LayerNorm", 5).state()
    expect.keys(list(state.entries), ["weight", "bias"], "the keys of the state_dict")
    expect.keys(list(state.parameters), ["weight", "bias"], "the parameters")
    expect.close(state.entries["weight"], torch.ones(5), "weight", names="D")
    expect.close(state.entries["bias"], torch.zeros(5), "bias", names="D")


@pytest.mark.criterion(points=1, source="slides, pages 4 and 8")
def test_scale_and_shift(component, expect):
    """LayerNorm multiplies by the weight, then adds the bias, feature by feature"""
    weight, bias = torch.tensor([1.0, 2.0, 3.0, -1.0]), torch.tensor([0.0, 10.0, 0.0, 1.0])
    norm = component.build("LayerNorm", 4).load({"weight": weight, "bias": bias})
    answer = norm(torch.tensor([[[2.0, 4.0, 6.0, 8.0]]]))
    expect.close(answer.output, [[[-1.3416394, 9.1055738, 1.3416394, -0.3416394]]], names="B T D")
