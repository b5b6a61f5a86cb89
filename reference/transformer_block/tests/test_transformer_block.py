"""Hidden checks of transformer_block.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T, F, then H with D / H. Few examples are drawn; the first uses the first entry of every list.
# D is at least 6, since a norm of very few features magnifies every rounding.
SIZES = st.tuples(
    *(st.sampled_from(n) for n in ([2, 3, 1], [3, 4, 2, 1], [5, 8, 1])),
    st.sampled_from([(2, 3), (3, 2), (2, 4), (1, 6)]),
)
MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
ACTIVATIONS = st.sampled_from(["relu", "gelu"])
NORMS = st.sampled_from(["pre", "post", "none"])
LAYERS = tuple(f"attention.{name}" for name in ("q_linear", "k_linear", "v_linear", "out_proj"))


def parameter_shapes(features, hidden, norm, bias=True):
    """Name the parameters of a block, with their shapes."""
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in LAYERS}
        shapes["feed_forward.linear1.bias"] = (hidden,)
        shapes["feed_forward.linear2.bias"] = (features,)
    if norm != "none":
        for layer in ("norm1", "norm2"):
            shapes |= {f"{layer}.weight": (features,), f"{layer}.bias": (features,)}
    return shapes


def block(source, make, sizes, seed, dtype, dropout=0.0, **options):
    """Build TransformerBlock with random parameters; `options` are norm, activation and bias."""
    hidden, (heads, size) = sizes[2:]
    features, norm, bias = heads * size, options.get("norm", "pre"), options.get("bias", True)
    built = source.build("TransformerBlock", features, heads, hidden, dropout, **options)
    # Everything is rounded to bfloat16, so that every dtype holds the same numbers.
    state = make.state(
        parameter_shapes(features, hidden, norm, bias), seed=seed, dtype=torch.bfloat16
    )
    if norm != "none":
        # Around 1, as they are in a trained block.
        state |= {f"norm{i}.weight": state[f"norm{i}.weight"] + 1 for i in (1, 2)}
    return built.to(dtype).load(state)


def draw_input(make, sizes, seed):
    """Draw x (B, T, D) in numbers that every dtype holds exactly."""
    batch, length, _, (heads, size) = sizes
    return make.normal(batch, length, heads * size, seed=seed, dtype=torch.bfloat16)


def draw_mask(make, kind, batch, length, seed):
    """Draw a mask of this kind, or None."""
    if kind == "none":
        return None
    return make.mask(*([batch] if "B" in kind else []), length, length, seed=seed)


@pytest.mark.criterion(points=1, source="session, knowledge point 5", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS)
def test_pre(component, reference, expect, make, seed, sizes, kind, activation):
    """norm="pre" is right for random parameters, inputs and masks, in float64"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "pre", "activation": activation}
    right = block(reference, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    expect.close(actual, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS)
def test_post(component, reference, expect, make, seed, sizes, kind, activation):
    """norm="post" is right for random parameters, inputs and masks, in float64"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "post", "activation": activation}
    right = block(reference, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    expect.close(actual, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention and feed_forward", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, activation=ACTIVATIONS, bias=st.booleans())
def test_none(component, reference, expect, make, seed, sizes, kind, activation, bias):
    """norm="none" is right for random parameters, inputs and masks, with and without bias"""
    x = draw_input(make, sizes, seed).to(torch.float32)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    options = {"norm": "none", "activation": activation, "bias": bias}
    right = block(reference, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    actual = block(component, make, sizes, seed, x.dtype, **options).train(False)(x, mask).output
    expect.close(actual, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="walkthrough, attention and feed_forward", examples=3)
@given(seed=SEEDS, activation=ACTIVATIONS, bias=st.booleans(), norm=NORMS)
def test_arguments(component, reference, expect, make, seed, activation, bias, norm):
    """norm, activation and bias reach the sublayers and have the right defaults"""
    sizes = (2, 3, 8, (2, 3))
    x = draw_input(make, sizes, seed).to(torch.float32)
    options = {"norm": norm, "activation": activation, "bias": bias}
    right = block(reference, make, sizes, seed, x.dtype, **options)(x).output
    told = {key: value for key, value in options.items() if value not in ("pre", "relu", True)}
    own = block(component, make, sizes, seed, x.dtype, **told)
    names = list(parameter_shapes(6, 8, norm, bias))
    expect.keys(list(own.state().parameters), names, f"the parameters with {norm=}, {bias=}")
    # A mask applies to its own call only.
    expect.that(own(x, torch.ones(3, 3, dtype=torch.bool).tril()))
    expect.close(own(x).output, right, scale=10, names="B T D")


@pytest.mark.criterion(points=0.5, source="handout")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, norm=NORMS)
def test_gradients(component, reference, expect, make, seed, sizes, kind, norm):
    """the gradients of the input and of every parameter are right"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    cotangent = draw_input(make, sizes, seed + 1).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    built = block(reference, make, sizes, seed, x.dtype, norm=norm, activation="gelu")
    right = built.asking(cotangent=cotangent)(x, mask)
    built = block(component, make, sizes, seed, x.dtype, norm=norm, activation="gelu")
    actual = built.asking(cotangent=cotangent)(x, mask)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=50, names="B T D"
    )
    for name, gradient in right.parameter_gradients.items():
        found = actual.parameter_gradients.get(name)
        expect.close(found, gradient, f"the gradient of {name}", scale=50)
