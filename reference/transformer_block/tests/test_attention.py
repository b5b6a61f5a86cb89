"""Hidden checks of attention.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# Few examples are drawn and the first takes the first of every list: a telling one.
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
    """Build SelfAttention with drawn parameters."""
    shapes = {f"{layer}.weight": (features, features) for layer in LAYERS}
    if bias:
        shapes |= {f"{layer}.bias": (features,) for layer in LAYERS}
    state = make.state(shapes, seed=seed, dtype=torch.float64)
    return source.build("SelfAttention", features, bias).to(torch.float64).load(state)


@pytest.mark.criterion(points=1.5, source="session, knowledge point 3")
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_float64(component, reference, expect, make, seed, leading, sizes, kind):
    """attention is right for any leading dimensions, lengths, sizes and masks, in float64"""
    query, key, value = inputs(make, leading, sizes, seed, torch.float64)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    right = reference.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", like=query, names="... Tq Tk")
    expect.close(actual[0], right[0], "the output", like=query, names="... Tq d_v")


@pytest.mark.criterion(points=1, source="session, knowledge point 3")
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_bfloat16(component, reference, expect, make, seed, leading, sizes, kind):
    """bfloat16 in, bfloat16 out"""
    query, key, value = inputs(make, leading, sizes, seed, torch.bfloat16)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    exact = (tensor.to(torch.float64) for tensor in (query, key, value))
    right = reference.call(ATTEND, *exact, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", like=query, names="... Tq Tk")
    expect.close(actual[0], right[0], "the output", like=query, names="... Tq d_v")


@pytest.mark.criterion(points=1.5, source="session, knowledge point 3")
@given(seed=SEEDS, leading=LEADING, sizes=SIZES, kind=MASKS)
def test_input_gradients(component, reference, expect, make, seed, leading, sizes, kind):
    """gradients flow from the output back to query, key and value"""
    query, key, value = inputs(make, leading, sizes, seed, torch.float64)
    mask = draw_mask(make, kind, leading, *sizes[:2], seed)
    shape = (*leading, sizes[0], sizes[3])
    cotangent = make.normal(*shape, seed=seed + 3, dtype=torch.float64)
    right = reference.asking(cotangent=cotangent).call(ATTEND, query, key, value, mask).gradients
    actual = component.asking(cotangent=cotangent).call(ATTEND, query, key, value, mask).gradients
    for number, name in enumerate(("query", "key", "value")):
        expect.close(actual[number], right[number], f"the gradient of the {name}", scale=5)


@pytest.mark.criterion(points=1.5, source="session, knowledge point 3")
@given(seed=SEEDS, shape=SHAPES, kind=SELF_MASKS, bias=st.booleans())
def test_self_attention(component, reference, expect, make, seed, shape, kind, bias):
    """SelfAttention is right for random parameters, inputs and masks, with bias and without"""
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
    expect.close(actual[1], right[1], "the matrix of weights", like=x, scale=2, names="B T T")
    expect.close(actual[0], right[0], "the output", like=x, scale=2, names="B T D")


@pytest.mark.criterion(points=1, source="session, knowledge point 3")
@given(seed=SEEDS, shape=SHAPES, kind=SELF_MASKS)
def test_parameter_gradients(component, reference, expect, make, seed, shape, kind):
    """all three projections of SelfAttention get their gradients"""
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


@pytest.mark.criterion(
    points=1, source="session, knowledge point 3; walkthrough, attention, step 1"
)
@given(seed=SEEDS, batch=st.integers(1, 3), length=st.integers(1, 6), pad=st.integers(-1, 3))
def test_masks_of_any_size(component, reference, expect, make, seed, batch, length, pad):
    """causal_mask and padding_mask are right for any length, ids and pad id"""
    right = reference.call("causal_mask", length).output
    expect.equal(
        component.call("causal_mask", length).output, right, "causal_mask's result", names="T T"
    )
    ids = make.integers(batch, length, seed=seed, below=5) - 1
    right = reference.call("padding_mask", ids, pad).output
    actual = component.call("padding_mask", ids, pad).output
    expect.shape(actual, right.shape, "padding_mask's result", names="B T T")
    expect.dtype(actual, torch.bool, "padding_mask's result")
    judged = ids != pad
    expect.equal(
        actual[judged], right[judged], "padding_mask's result for other tokens than padding"
    )


@pytest.mark.criterion(
    points=0.5, source="session, knowledge point 3; walkthrough, attention, step 1"
)
@given(seed=SEEDS, padding=st.integers(0, 2), pad=st.sampled_from([0, 9]))
def test_combined_masks(component, reference, expect, make, seed, padding, pad):
    """SelfAttention is right under causal_mask & padding_mask"""
    ids = make.integers(2, 4, seed=seed, below=5) + 1
    # Not at the end, where the causal mask hides it from all but the padding itself.
    ids[0, 1 : 1 + padding] = pad
    x = make.normal(2, 4, 6, seed=seed)
    mask = torch.ones(4, 4, dtype=torch.bool).tril() & (ids != pad).unsqueeze(1)
    right = (
        self_attention(reference, make, 6, seed)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    causal = component.call("causal_mask", 4).output
    keys = component.call("padding_mask", ids, pad).output
    expect.dtype(causal, torch.bool, "causal_mask's result")
    expect.shape(causal, (4, 4), "causal_mask's result", names="T T")
    expect.dtype(keys, torch.bool, "padding_mask's result")
    expect.shape(keys, (2, 4, 4), "padding_mask's result", names="B T T")
    judged = ids != pad
    expect.equal((causal & keys)[judged], mask.expand(2, 4, 4)[judged], "the combined mask")
    # Not the component's own masks: what is asked must not hang on what was answered.
    actual = (
        self_attention(component, make, 6, seed)
        .to(torch.float32)(x, mask)
        .tensors("output", "weights")
    )
    expect.shape(actual[0], (2, 4, 6), "the output", names="B T D")
    expect.shape(actual[1], (2, 4, 4), "the matrix of weights", names="B T T")
    what = "the matrix of weights of tokens that are no padding"
    expect.close(actual[1][judged], right[1][judged], what, scale=2)
    what = "the output for tokens that are no padding"
    expect.close(actual[0][judged], right[0][judged], what, scale=2)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
@given(seed=SEEDS)
def test_large_scores(component, reference, expect, make, seed):
    """large scores give weights, not NaN

    A score of 30000 is rounded by 0.002 in float32, which shows in the weights.
    """
    query = make.normal(2, 3, 4, seed=seed).round() * 60
    key, value = make.normal(2, 5, 4, seed=seed + 1).round() * 60, make.normal(2, 5, 2, seed=seed)
    mask = make.mask(3, 5, seed=seed)
    right = reference.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    what = "the matrix of weights"
    expect.close(actual[1], right[1], what, like=query, names="B Tq Tk", scale=100)
    expect.close(actual[0], right[0], "the output", like=query, names="B Tq d_v", scale=100)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
@given(seed=SEEDS)
def test_non_contiguous(component, reference, expect, make, seed):
    """transposed, strided and expanded inputs give the same result as contiguous ones"""
    query = make.normal(3, 4, 2, seed=seed).transpose(1, 2)
    key = make.normal(3, 10, 4, seed=seed + 1)[:, ::2]
    value = make.normal(1, 5, 6, seed=seed + 2).expand(3, 5, 6)
    mask = make.mask(5, 2, seed=seed).T | torch.eye(2, 5, dtype=torch.bool)
    right = reference.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    actual = component.call(ATTEND, query, key, value, mask).tensors("output", "weights")
    expect.close(actual[1], right[1], "the matrix of weights", names="B Tq Tk")
    expect.close(actual[0], right[0], "the output", names="B Tq d_v")
    x = make.normal(5, 2, 6, seed=seed).transpose(0, 1)
    right = (
        self_attention(reference, make, 6, seed).to(torch.float32)(x).tensors("output", "weights")
    )
    actual = (
        self_attention(component, make, 6, seed).to(torch.float32)(x).tensors("output", "weights")
    )
    expect.close(actual[0], right[0], "the output of SelfAttention", scale=2, names="B T D")


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
def test_inputs_untouched(component, expect, make):
    """query, key, value, mask, ids and x are left as they were"""
    query, key, value = inputs(make, (2,), (3, 3, 4, 4), 1, torch.float32)
    mask = make.mask(2, 3, 3, seed=2)
    answer = component.asking(keep_inputs=True).call(ATTEND, query, key, value, mask)
    expect.unchanged(answer, query, key, value, mask)
    expect.unchanged(
        component.build("SelfAttention", 4).asking(keep_inputs=True)(query, mask), query, mask
    )
    ids = make.integers(2, 3, seed=3, below=3)
    expect.unchanged(component.asking(keep_inputs=True).call("padding_mask", ids, 2), ids)


@pytest.mark.criterion(points=0.5, source="session, knowledge point 3")
def test_device(component, expect):
    """no device is written into the code"""
    x = torch.empty(2, 3, 4, device="meta")
    mask = torch.empty(2, 3, 3, dtype=torch.bool, device="meta")
    answer = component.call(ATTEND, x, x, x, mask)
    expect.follows_device(
        answer, (2, 3, 4), (2, 3, 3), names=("B Tq d_v", "B Tq Tk"), called=("output", "weights")
    )
    answer = component.build("SelfAttention", 4).to(device="meta")(x, mask)
    expect.follows_device(
        answer, (2, 3, 4), (2, 3, 3), names=("B T D", "B T T"), called=("output", "weights")
    )
    ids = torch.empty(2, 3, dtype=torch.int64, device="meta")
    expect.follows_device(component.call("padding_mask", ids, 0), (2, 3, 3), names=("B T T",))
