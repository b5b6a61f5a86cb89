"""Hidden checks of feed_forward.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 6))
LEADING = st.lists(st.integers(1, 3), max_size=3)
HIDDEN = st.integers(1, 9)
ACTIVATIONS = st.sampled_from(["relu", "gelu"])


def module(source, make, features, hidden, seed, dtype, activation="relu", bias=True):
    """Build FeedForward with random parameters and without dropout."""
    shapes = {"linear1.weight": (hidden, features), "linear2.weight": (features, hidden)}
    if bias:
        shapes |= {"linear1.bias": (hidden,), "linear2.bias": (features,)}
    built = source.build("FeedForward", features, hidden, 0.0, activation, bias).train(False)
    return built.to(dtype).load(make.state(shapes, seed=seed, dtype=dtype))


@pytest.mark.criterion(points=1, source="slides, pages 20 and 21", examples=2)
@given(seed=SEEDS, leading=LEADING, sizes=st.tuples(HIDDEN, HIDDEN, HIDDEN))
def test_memory_lookup(component, reference, expect, make, seed, leading, sizes):
    """memory_lookup is right for random inputs, keys and values"""
    features, slots, width = sizes
    x = make.normal(*leading, features, seed=seed, dtype=torch.float64)
    keys = make.normal(slots, features, seed=seed + 1, dtype=torch.float64)
    values = make.normal(slots, width, seed=seed + 2, dtype=torch.float64)
    right = reference.call("memory_lookup", x, keys, values).output
    actual = component.call("memory_lookup", x, keys, values).output
    expect.close(actual, right, names="... Dv")


@pytest.mark.criterion(points=1, source="session, knowledge point 1")
@given(seed=SEEDS, shape=SHAPES, hidden=HIDDEN, activation=ACTIVATIONS, bias=st.booleans())
def test_module(component, reference, expect, make, seed, shape, hidden, activation, bias):
    """FeedForward is right for random parameters, inputs and settings"""
    x = make.normal(*shape, seed=seed)
    arguments = (make, shape[-1], hidden, seed, torch.float32, activation, bias)
    right = module(reference, *arguments)(x).output
    expect.close(module(component, *arguments)(x).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES, hidden=HIDDEN)
def test_gradients(component, reference, expect, make, seed, shape, hidden):
    """the gradients of the input and of every weight and bias are right"""
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    arguments = (make, shape[-1], hidden, seed, torch.float64)
    right = module(reference, *arguments).asking(cotangent=cotangent)(x)
    actual = module(component, *arguments).asking(cotangent=cotangent)(x)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=5, names="B T D"
    )
    for name, gradient in right.parameter_gradients.items():
        found = actual.parameter_gradients.get(name)
        expect.close(found, gradient, f"the gradient of {name}", scale=5)
