"""Hidden checks of multi_head_attention.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T, H, D / H. Few examples are drawn; the first uses the first entry of every list.
SIZES = st.tuples(*(st.sampled_from(n) for n in ([2, 3, 1], [3, 4, 2, 1], [2, 3, 4, 1], [3, 2, 1])))
MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
LAYERS = ("q_linear", "k_linear", "v_linear", "out_proj")


def attention(source, make, heads, size, seed, dtype, bias=True):
    """Build MultiHeadAttention with random parameters, in evaluation mode."""
    features = heads * size
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in LAYERS}
    built = source.build("MultiHeadAttention", features, heads, bias).to(dtype)
    # Everything is rounded to bfloat16, so that every dtype holds the same numbers.
    return built.load(make.state(shapes, seed=seed, dtype=torch.bfloat16)).train(False)


def draw_input(make, sizes, seed):
    """Draw x (B, T, D) in numbers that every dtype holds exactly."""
    batch, length, heads, size = sizes
    return make.normal(batch, length, heads * size, seed=seed, dtype=torch.bfloat16)


def draw_mask(make, kind, batch, length, seed):
    """Draw a mask of this kind, or None."""
    if kind == "none":
        return None
    return make.mask(*([batch] if "B" in kind else []), length, length, seed=seed)


@pytest.mark.criterion(points=1, source="session, knowledge point 4")
@given(seed=SEEDS, sizes=SIZES)
def test_float64(component, reference, expect, make, seed, sizes):
    """MultiHeadAttention is right without a mask, for random parameters and sizes, in float64"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    right = attention(reference, make, *sizes[2:], seed, x.dtype)(x).tensors("output", "weights")
    actual = attention(component, make, *sizes[2:], seed, x.dtype)(x).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", scale=2, names="B H T T")
    expect.close(actual[0], right[0], "the output", scale=2, names="B T D")


@pytest.mark.criterion(points=1, source="session, knowledge point 4; walkthrough, attention")
@given(seed=SEEDS, sizes=SIZES, kind=st.sampled_from(["(B, T, T)", "(T, T)"]))
def test_masks(component, reference, expect, make, seed, sizes, kind):
    """MultiHeadAttention is right with random masks, (T, T) and (B, T, T), in training mode"""
    x = draw_input(make, sizes, seed).to(torch.float32)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    right = (
        attention(reference, make, *sizes[2:], seed, x.dtype)
        .train()(x, mask)
        .tensors("output", "weights")
    )
    actual = (
        attention(component, make, *sizes[2:], seed, x.dtype)
        .train()(x, mask)
        .tensors("output", "weights")
    )
    expect.close(actual[1], right[1], "the matrix of weights", scale=2, names="B H T T")
    expect.close(actual[0], right[0], "the output", scale=2, names="B T D")


@pytest.mark.criterion(points=1, form=True, source="walkthrough, attention, step 1", examples=2)
@given(seed=SEEDS, count=st.integers(2, 3), size=st.integers(1, 3))
def test_as_many_heads_as_sequences(component, expect, make, seed, count, size):
    """a (B, T, T) mask is applied per sequence, also if B = H = T

    Every sequence alone, with its own mask, must give the same result as in the batch.
    """
    sizes, names = (count, count, count, size), ("output", "weights")
    x = draw_input(make, sizes, seed).to(torch.float32)
    # Every sequence has a mask of its own: one more key is allowed in each.
    allowed = torch.arange(count) <= torch.arange(count).view(count, 1, 1)
    mask = allowed.expand(count, count, count) | torch.eye(count, dtype=torch.bool)
    built = attention(component, make, count, size, seed, x.dtype)
    together = built(x, mask).tensors(*names)
    expect.shape(together[0], x.shape, "the output", names="B T D")
    expect.shape(together[1], (count,) * 4, "the matrix of weights", names="B H T T")
    for at in range(count):
        alone = built(x[at : at + 1], mask[at]).tensors(*names)
        what = f"of sequence {at} by itself"
        expect.close(
            alone[1], together[1][at : at + 1], f"the weights {what}", scale=2, names="B H T T"
        )
        expect.close(
            alone[0], together[0][at : at + 1], f"the output {what}", scale=2, names="B T D"
        )


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_bfloat16(component, reference, expect, make, seed, sizes, kind):
    """MultiHeadAttention is right in bfloat16, and the results are bfloat16"""
    x, mask = draw_input(make, sizes, seed), draw_mask(make, kind, *sizes[:2], seed)
    exact = attention(reference, make, *sizes[2:], seed, torch.float64)
    right = exact(x.to(torch.float64), mask).tensors("output", "weights")
    actual = attention(component, make, *sizes[2:], seed, x.dtype)(x, mask).tensors(
        "output", "weights"
    )
    expect.close(actual[1], right[1], "the matrix of weights", like=x, names="B H T T")
    expect.close(actual[0], right[0], "the output", like=x, scale=2, names="B T D")


@pytest.mark.criterion(points=1, source="handout")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_input_gradient(component, reference, expect, make, seed, sizes, kind):
    """the gradient of the input is right"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    cotangent = draw_input(make, sizes, seed + 1).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    built = attention(reference, make, *sizes[2:], seed, x.dtype)
    right = built.asking(cotangent=cotangent)(x, mask).gradients[0]
    built = attention(component, make, *sizes[2:], seed, x.dtype)
    actual = built.asking(cotangent=cotangent)(x, mask).gradients[0]
    expect.close(actual, right, "the input's gradient", scale=10, names="B T D")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_parameter_gradients(component, reference, expect, make, seed, sizes, kind):
    """the gradients of all four projections are right"""
    x = draw_input(make, sizes, seed).to(torch.float64)
    cotangent = draw_input(make, sizes, seed + 1).to(torch.float64)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    built = attention(reference, make, *sizes[2:], seed, x.dtype)
    right = built.asking(cotangent=cotangent)(x, mask).parameter_gradients
    built = attention(component, make, *sizes[2:], seed, x.dtype)
    actual = built.asking(cotangent=cotangent)(x, mask).parameter_gradients
    for name, gradient in right.items():
        expect.close(actual.get(name), gradient, f"the gradient of {name}", scale=10, names="... D")


@pytest.mark.criterion(
    points=1, source="session, knowledge point 4; walkthrough, attention", examples=2
)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_without_bias(component, reference, expect, make, seed, sizes, kind):
    """MultiHeadAttention with bias=False has no biases and computes without them"""
    x = draw_input(make, sizes, seed).to(torch.float32)
    mask = draw_mask(make, kind, *sizes[:2], seed)
    right = attention(reference, make, *sizes[2:], seed, x.dtype, bias=False)(x, mask).tensors(
        "output", "weights"
    )
    built = attention(component, make, *sizes[2:], seed, x.dtype, bias=False)
    expect.keys(
        list(built.state().parameters), [f"{layer}.weight" for layer in LAYERS], "the parameters"
    )
    actual = built(x, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", scale=2, names="B H T T")
    expect.close(actual[0], right[0], "the output", scale=2, names="B T D")
