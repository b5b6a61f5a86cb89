"""Hidden checks of layer_norm.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(4, 9))
EPS = st.sampled_from([1e-5, 1e-3, 0.1, 1.0])
PARAMETERS = ("weight", "bias")


def module(source, make, features, seed, dtype, eps=1e-5):
    """Build LayerNorm with random parameters."""
    state = make.state(dict.fromkeys(PARAMETERS, (features,)), seed=seed, dtype=dtype)
    return source.build("LayerNorm", features, eps).to(dtype).load(state)


@pytest.mark.criterion(points=1, source="slides, page 8", examples=2)
@given(seed=SEEDS, shape=SHAPES, eps=EPS)
def test_float64(component, reference, expect, make, seed, shape, eps):
    """layer_norm is right for random inputs and eps, in float64"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64, mean=1.0, deviation=0.7)
    right = reference.call("layer_norm", x, eps).output
    expect.close(component.call("layer_norm", x, eps).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
@given(seed=SEEDS, shape=SHAPES, eps=EPS)
def test_module(component, reference, expect, make, seed, shape, eps):
    """LayerNorm is right for random parameters, inputs and eps"""
    x = make.normal(*shape, seed=seed, mean=-1.0)
    right = module(reference, make, shape[-1], seed, torch.float32, eps)(x).output
    actual = module(component, make, shape[-1], seed, torch.float32, eps)(x).output
    expect.close(actual, right, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES)
def test_input_gradient(component, reference, expect, make, seed, shape):
    """the gradient of the input is right"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call("layer_norm", x, 0.1).gradients[0]
    actual = component.asking(cotangent=cotangent).call("layer_norm", x, 0.1)
    expect.close(actual.gradients[0], right, "the input's gradient", names="B T D")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES)
def test_parameter_gradients(component, reference, expect, make, seed, shape):
    """the gradients of weight and bias are right"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    right = module(reference, make, shape[-1], seed, torch.float64).asking(cotangent=cotangent)(x)
    actual = module(component, make, shape[-1], seed, torch.float64).asking(cotangent=cotangent)(x)
    for name in PARAMETERS:
        expect.close(
            actual.parameter_gradients.get(name),
            right.parameter_gradients[name],
            f"the gradient of {name}",
            names="D",
        )
