"""Hidden checks of attention.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# Few examples are drawn; the first uses the first entry of every list, so those come first.
LEADING = st.sampled_from([(2,), (2, 3), (), (3, 1, 2), (1,)])
# Tq, Tk, d_k, d_v
SIZES = st.tuples(*(st.sampled_from(n) for n in ([3, 4, 1], [4, 5, 3, 1], [4, 6, 2], [5, 3, 1])))
MASKS = st.sampled_from(["(..., Tq, Tk)", "(Tq, Tk)", "none", "(1, Tk)"])
# B, T, D
SHAPES = st.tuples(*(st.sampled_from(n) for n in ([2, 3, 1], [4, 3, 5, 1], [6, 5, 8, 3])))
SELF_MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
LAYERS = ("q_linear", "k_linear", "v_linear")
ATTEND = "scaled_dot_product_attention"


def inputs(make, leading, sizes, seed, dtype):
    """Draw query, key and value."""
    queries, keys, d_k, d_v = sizes
    return (
        make.normal(*leading, queries, d_k, seed=seed, dtype=dtype),
        make.normal(*leading, keys, d_k, seed=seed + 1, dtype=dtype),
        make.normal(*leading, keys, d_v, seed=seed + 2, dtype=dtype),
    )


def draw_mask(make, kind, leading, queries, keys, seed):
    """Draw a mask of this kind, or None."""
    shapes = {"(Tq, Tk)": (queries, keys), "(1, Tk)": (1, keys), "(T, T)": (queries, keys)}
    if kind == "none":
        return None
    return make.mask(*shapes.get(kind, (*leading, queries, keys)), seed=seed)


def self_attention(source, make, features, seed, bias=True):
    """Build SelfAttention with random parameters, in evaluation mode."""
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in LAYERS}
    state = make.state(shapes, seed=seed, dtype=torch.float64)
    built = source.build("SelfAttention", features, bias).to(torch.float64)
    return built.load(state).train(False)


@pytest.mark.criterion(points=1.5, source="session, knowledge point 3", examples=2)
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_float64(component, reference, expect, make, seed, leading, sizes, kind):
    """attention is right for random leading dimensions, sizes and masks, in float64"""
    query, key, value = inputs(make, leading, sizes, seed, torch.float64)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    right = reference.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", names="... Tq Tk")
    expect.close(actual[0], right[0], "the output", names="... Tq d_v")


@pytest.mark.criterion(points=0.5, source="handout", examples=3)
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_bfloat16(component, reference, expect, make, seed, leading, sizes, kind):
    """attention is right in bfloat16, and the results are bfloat16"""
    query, key, value = inputs(make, leading, sizes, seed, torch.bfloat16)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    exact = (tensor.to(torch.float64) for tensor in (query, key, value))
    right = reference.call(ATTEND, *exact, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", like=query, names="... Tq Tk")
    expect.close(actual[0], right[0], "the output", like=query, names="... Tq d_v")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_input_gradients(component, reference, expect, make, seed, leading, sizes, kind):
    """the gradients of query, key and value are right"""
    query, key, value = inputs(make, leading, sizes, seed, torch.float64)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    shape = (*leading, sizes[0], sizes[3])
    cotangent = make.normal(*shape, seed=seed + 3, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call(ATTEND, query, key, value, mask).gradients
    actual = component.asking(cotangent=cotangent).call(ATTEND, query, key, value, mask).gradients
    for number, name in enumerate(("query", "key", "value")):
        expect.close(actual[number], right[number], f"the gradient of the {name}", scale=5)


@pytest.mark.criterion(points=1.5, source="session, knowledge point 3", examples=3)
@given(seed=SEEDS, shape=SHAPES, kind=SELF_MASKS, bias=st.booleans())
def test_self_attention(component, reference, expect, make, seed, shape, kind, bias):
    """SelfAttention is right for random parameters, inputs and masks, with and without bias"""
    batch, length, features = shape
    x = make.normal(*shape, seed=seed)
    mask = draw_mask(make, kind, (batch,), length, length, seed)
    right = (
        self_attention(reference, make, features, seed, bias)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    actual = (
        self_attention(component, make, features, seed, bias)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    expect.close(actual[1], right[1], "the matrix of weights", scale=2, names="B T T")
    expect.close(actual[0], right[0], "the output", scale=2, names="B T D")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES, kind=SELF_MASKS)
def test_parameter_gradients(component, reference, expect, make, seed, shape, kind):
    """the gradients of SelfAttention's input and projections are right"""
    batch, length, features = shape
    x = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape, seed=seed + 1, dtype=torch.float64)
    mask = draw_mask(make, kind, (batch,), length, length, seed)
    right = self_attention(reference, make, features, seed).asking(cotangent=cotangent)(x, mask)
    actual = self_attention(component, make, features, seed).asking(cotangent=cotangent)(x, mask)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=10, names="B T D"
    )
    for name, gradient in right.parameter_gradients.items():
        found = actual.parameter_gradients.get(name)
        expect.close(found, gradient, f"the gradient of {name}", scale=10, names="... D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3", examples=2)
@given(length=st.integers(1, 9))
def test_causal_mask_of_any_size(component, reference, expect, length):
    """causal_mask is right for any length"""
    right = reference.call("causal_mask", length).output
    answer = component.call("causal_mask", length)
    expect.equal(answer.output, right, "the mask", names="T T")


@pytest.mark.criterion(points=0.5, source="handout", examples=3)
@given(seed=SEEDS, batch=st.integers(1, 3), length=st.integers(1, 6), pad=st.integers(-1, 3))
def test_padding_mask_of_any_size(component, reference, expect, make, seed, batch, length, pad):
    """padding_mask is right for any length, ids and pad id"""
    ids = make.integers(batch, length, seed=seed, below=5) - 1
    right = reference.call("padding_mask", ids, pad).output
    mask = expect.shape(component.call("padding_mask", ids, pad).output, right.shape, names="B T T")
    expect.dtype(mask, torch.bool, "the mask")
    # The rows of padding queries are not judged.
    judged = ids != pad
    expect.equal(mask[judged], right[judged], "the mask's rows of tokens that are not padding")


@pytest.mark.criterion(
    points=0.5, source="session, knowledge point 3; walkthrough, attention, step 1", examples=2
)
@given(seed=SEEDS, padding=st.integers(0, 2))
def test_combined_masks(component, reference, expect, make, seed, padding):
    """SelfAttention is right for a causal mask combined with a padding mask"""
    tokens = torch.ones(2, 4, dtype=torch.bool)
    # Not at the end: there the causal mask hides the padding from all other tokens anyway.
    tokens[0, 1 : 1 + padding] = False
    x = make.normal(2, 4, 6, seed=seed)
    mask = torch.ones(4, 4, dtype=torch.bool).tril() & tokens.unsqueeze(1)
    right = (
        self_attention(reference, make, 6, seed)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    actual = (
        self_attention(component, make, 6, seed)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    expect.close(actual[1], right[1], "the matrix of weights", scale=2, names="B T T")
    expect.close(actual[0], right[0], "the output", scale=2, names="B T D")
