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
HINT = "dropout stands between the activation and linear2, and nowhere else"


def module(source, make, features, hidden, seed, dtype, activation="relu", bias=True):
    """Build FeedForward with drawn parameters and without dropout."""
    shapes = {"linear1.weight": (hidden, features), "linear2.weight": (features, hidden)}
    if bias:
        shapes |= {"linear1.bias": (hidden,), "linear2.bias": (features,)}
    built = source.build("FeedForward", features, hidden, 0.0, activation, bias).train(False)
    return built.to(dtype).load(make.state(shapes, seed=seed, dtype=dtype))


def see_through(component, features, **settings):
    """Build FeedForward whose result is the activated features, dropped or not, plus 3."""
    built = component.build("FeedForward", features, features, activation="gelu", **settings)
    identity, zero = torch.eye(features), torch.zeros(features)
    weights = {"linear1.weight": identity, "linear2.weight": identity}
    return built.load(weights | {"linear1.bias": zero, "linear2.bias": zero + 3})


@pytest.mark.criterion(points=1, source="slides, pages 20 and 21")
@given(seed=SEEDS, leading=LEADING, sizes=st.tuples(HIDDEN, HIDDEN, HIDDEN))
def test_memory_lookup(component, reference, expect, make, seed, leading, sizes):
    """memory_lookup is right for random memories, and so are its gradients"""
    features, slots, width = sizes
    x = make.normal(*leading, features, seed=seed, dtype=torch.float64)
    keys = make.normal(slots, features, seed=seed + 1, dtype=torch.float64)
    values = make.normal(slots, width, seed=seed + 2, dtype=torch.float64)
    cotangent = make.normal(*leading, width, seed=seed + 3, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call("memory_lookup", x, keys, values)
    actual = component.asking(cotangent=cotangent).call("memory_lookup", x, keys, values)
    expect.close(actual.output, right.output, names="... Dv")
    for name, mine, theirs in zip(
        ("x", "keys", "values"), actual.gradients, right.gradients, strict=True
    ):
        expect.close(mine, theirs, f"the gradient of {name}", scale=5)


@pytest.mark.criterion(points=1, source="session, knowledge point 1")
@given(seed=SEEDS, shape=SHAPES, hidden=HIDDEN, activation=ACTIVATIONS, bias=st.booleans())
def test_module(component, reference, expect, make, seed, shape, hidden, activation, bias):
    """FeedForward is right for random parameters, inputs and settings"""
    x = make.normal(*shape, seed=seed)
    arguments = (make, shape[-1], hidden, seed, torch.float32, activation, bias)
    right = module(reference, *arguments)(x).output
    expect.close(module(component, *arguments)(x).output, right, like=x, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dtypes(component, expect, make):
    """float64 in, float64 out; bfloat16 in, bfloat16 out"""
    x = make.normal(2, 3, 6, seed=1)
    memory = (make.normal(5, 6, seed=2, deviation=0.5), make.normal(5, 2, seed=3))
    built = component.build("FeedForward", 6, 9, 0.0).train(False)
    found = component.call("memory_lookup", x, *memory).output
    right = built(x).output
    for dtype in (torch.float64, torch.bfloat16):
        same, keys, values = x.to(dtype), memory[0].to(dtype), memory[1].to(dtype)
        actual = component.call("memory_lookup", same, keys, values).output
        expect.close(
            actual, found, f"memory_lookup for {dtype}", like=same, scale=2, names="B T Dv"
        )
        actual = built.to(dtype)(same).output
        expect.close(actual, right, f"FeedForward for {dtype}", like=same, scale=2, names="B T D")


@pytest.mark.criterion(points=1, source="session, knowledge point 1")
@given(seed=SEEDS, shape=SHAPES, hidden=HIDDEN)
def test_gradients(component, reference, expect, make, seed, shape, hidden):
    """gradients flow back to the input and to every weight and bias"""
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


@pytest.mark.criterion(points=1, source="session, knowledge point 1")
def test_dropout(component, expect, make):
    """in training, activated features are dropped before linear2, the others scaled up"""
    # At least 1, so that no activated feature is near 0.
    x = make.normal(2, 64, 64, seed=1).abs() + 1
    plain = see_through(component, 64, dropout=0.0).train(False)(x)
    activated = expect.shape(plain.output, x.shape, names="B T D") - 3
    for rate in (0.4, 0.6):
        answer = see_through(component, 64, dropout=rate).train().asking(seed=2)(x)
        result = expect.shape(answer.output, x.shape, names="B T D")
        dropped = (result - 3).abs() < 0.5
        share = float(dropped.double().mean())
        # 8192 values: the bounds are more than nine standard deviations away.
        near = abs(share - rate) < 0.05
        expect.that(near, f"a share of {share:.3f} was dropped, expected about {rate}", hint=HINT)
        single = all(bool(dropped.any(d).all() and (~dropped).any(d).all()) for d in (1, 2))
        expect.that(single, "whole tokens or whole features were dropped, not single values")
        right = (activated / (1 - rate)).masked_fill(dropped, 0.0) + 3
        expect.close(result, right, "the result with features dropped or scaled up", names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_dropout_rate(component, expect, make):
    """nothing is dropped in evaluation or with dropout=0; the rate is 0.1 unless given"""
    x = make.normal(4, 64, 32, seed=1).abs() + 1
    plain = see_through(component, 32, dropout=0.0).train(False)(x)
    right = expect.shape(plain.output, x.shape, names="B T D")
    answer = see_through(component, 32, dropout=0.5).train(False).asking(seed=2)(x)
    expect.close(answer.output, right, "the result in evaluation", names="B T D")
    answer = see_through(component, 32, dropout=0.0).train().asking(seed=3)(x)
    expect.close(answer.output, right, "the result in training with dropout=0", names="B T D")
    result = expect.shape(
        see_through(component, 32).train().asking(seed=4)(x).output, x.shape, names="B T D"
    )
    # No activated feature is below 0.8. 8192 values: the bounds are nine deviations away.
    share = float(((result - 3).abs() < 0.5).double().mean())
    fact = f"a share of {share:.3f} was dropped by default, expected about 0.1"
    expect.that(abs(share - 0.1) < 0.03, fact)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_non_contiguous(component, expect, make):
    """a transposed or strided input gives the same result as a contiguous one"""
    x = make.normal(3, 4, 4, seed=1)
    built = component.build("FeedForward", 4, 5, 0.0).train(False)
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 4, 4)):
        right = built(view.contiguous()).output
        expect.close(built(view).output, right, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_input_untouched(component, expect, make):
    """the inputs are left as they were"""
    x, keys, values = make.normal(2, 3, 4, seed=3), make.normal(5, 4, seed=4), torch.ones(5, 2)
    expect.unchanged(
        component.asking(keep_inputs=True).call("memory_lookup", x, keys, values), x, keys, values
    )
    expect.unchanged(component.build("FeedForward", 4, 5, 0.0).asking(keep_inputs=True)(x), x)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 1")
def test_device(component, expect):
    """no device is written into the code"""
    x, keys = torch.empty(2, 3, 4, device="meta"), torch.empty(5, 4, device="meta")
    values = torch.empty(5, 2, device="meta")
    expect.follows_device(
        component.call("memory_lookup", x, keys, values), (2, 3, 2), names=("B T Dv",)
    )
    built = component.build("FeedForward", 4, 5).train(False).to(device="meta")
    expect.follows_device(built(x), (2, 3, 4), names=("B T D",))
