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
    """Build LayerNorm with drawn parameters."""
    state = make.state(dict.fromkeys(PARAMETERS, (features,)), seed=seed, dtype=dtype)
    return source.build("LayerNorm", features, eps).to(dtype).load(state)


@pytest.mark.criterion(points=1, source="slides, page 8")
@given(seed=SEEDS, shape=SHAPES, eps=EPS)
def test_float64(component, reference, expect, make, seed, shape, eps):
    """layer_norm is right for random inputs and eps, and keeps float64"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64, mean=1.0, deviation=0.7)
    right = reference.call("layer_norm", x, eps).output
    expect.close(component.call("layer_norm", x, eps).output, right, like=x, names="B T D")


@pytest.mark.criterion(points=1, source="slides, page 8")
@given(seed=SEEDS, shape=SHAPES, eps=EPS)
def test_module(component, reference, expect, make, seed, shape, eps):
    """LayerNorm is right for random parameters, inputs and eps"""
    x = make.normal(*shape, seed=seed, mean=-1.0)
    right = module(reference, make, shape[-1], seed, torch.float32, eps)(x).output
    actual = module(component, make, shape[-1], seed, torch.float32, eps)(x).output
    expect.close(actual, right, like=x, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
@given(seed=SEEDS, shape=SHAPES)
def test_bfloat16(component, reference, expect, make, seed, shape):
    """bfloat16 in, bfloat16 out"""
    x = make.normal(*shape, seed=seed, dtype=torch.bfloat16)
    right = module(reference, make, shape[-1], seed, torch.bfloat16)(x).output
    actual = module(component, make, shape[-1], seed, torch.bfloat16)(x).output
    expect.close(actual, right, like=x, names="B T D")


@pytest.mark.criterion(points=1, source="slides, page 8")
@given(seed=SEEDS, shape=SHAPES)
def test_input_gradient(component, reference, expect, make, seed, shape):
    """gradients flow back through the mean and the variance"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call("layer_norm", x, 0.1).gradients[0]
    actual = component.asking(cotangent=cotangent).call("layer_norm", x, 0.1)
    expect.close(actual.gradients[0], right, "the input's gradient", names="B T D")


@pytest.mark.criterion(points=1, source="slides, page 4")
@given(seed=SEEDS, shape=SHAPES)
def test_parameter_gradients(component, reference, expect, make, seed, shape):
    """weight and bias get their gradients"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    right = module(reference, make, shape[-1], seed, torch.float64).asking(cotangent=cotangent)(x)
    actual = module(component, make, shape[-1], seed, torch.float64).asking(cotangent=cotangent)(x)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=5, names="B T D"
    )
    for name in PARAMETERS:
        expect.close(
            actual.parameter_gradients.get(name),
            right.parameter_gradients[name],
            f"the gradient of {name}",
            names="D",
        )


@pytest.mark.criterion(points=0.5, source="slides, page 8")
@given(seed=SEEDS)
def test_non_contiguous(component, reference, expect, make, seed):
    """a transposed or strided input gives the same result as a contiguous one"""
    x = make.normal(3, 6, 4, seed=seed)
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 6, 4)):
        right = reference.call("layer_norm", view).output
        expect.close(component.call("layer_norm", view).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_constant_vector(component, expect):
    """a vector of equal values becomes zeros, not NaN"""
    for dtype in (torch.float64, torch.float32):
        x = torch.full((1, 1, 4), 3.0, dtype=dtype)
        expect.close(
            component.call("layer_norm", x).output, torch.zeros(1, 1, 4), like=x, names="B T D"
        )


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_small_variance(component, reference, expect, make):
    """eps is 1e-5 unless another one is given"""
    x = make.normal(2, 3, 8, seed=5, dtype=torch.float64, deviation=2e-3)
    right = reference.call("layer_norm", x).output
    expect.close(component.call("layer_norm", x).output, right, names="B T D")
    answer = component.build("LayerNorm", 8).to(torch.float64)(x)
    expect.close(answer.output, right, "the result of LayerNorm", names="B T D")


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_input_untouched(component, expect, make):
    """the input is left as it was"""
    x = make.normal(2, 3, 4, seed=3)
    expect.unchanged(component.asking(keep_inputs=True).call("layer_norm", x), x)
    expect.unchanged(component.build("LayerNorm", 4).asking(keep_inputs=True)(x), x)


@pytest.mark.criterion(points=0.5, source="slides, page 8")
def test_device(component, expect):
    """no device is written into the code"""
    x = torch.empty(2, 3, 4, device="meta")
    expect.follows_device(component.call("layer_norm", x), (2, 3, 4), names=("B T D",))
    expect.follows_device(
        component.build("LayerNorm", 4).to(device="meta")(x), (2, 3, 4), names=("B T D",)
    )
