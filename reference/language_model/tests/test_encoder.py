"""Hidden checks of encoder.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T, F, N, then H with D / H. Few examples are drawn; the first uses the first entry of every
# list, where B = H = T. D is at least 6: a norm of very few features magnifies every rounding.
SIZES = st.tuples(
    *(st.sampled_from(n) for n in ([3, 2, 1], [3, 4, 2], [5, 8, 1], [2, 3, 1])),
    st.sampled_from([(3, 2), (2, 3), (2, 4), (1, 6)]),
)
MASKS = st.sampled_from(["(B, T, T)", "(T, T)", "none"])
NORMS = st.sampled_from(["pre", "post"])
WORDS, LONGEST = 7, 6
LAYERS = tuple(f"attention.{name}" for name in ("q_linear", "k_linear", "v_linear", "out_proj"))


def parameter_shapes(features, hidden, blocks, norm):
    """Name the parameters of an encoder, with their shapes."""
    shapes = {"token_embedding.weight": (WORDS, features), "positions.weight": (LONGEST, features)}
    for number in range(blocks):
        at = f"blocks.{number}."
        for layer in LAYERS:
            shapes[f"{at}{layer}.weight"] = (features, features)
            shapes[f"{at}{layer}.bias"] = (features,)
        shapes[f"{at}feed_forward.linear1.weight"] = (hidden, features)
        shapes[f"{at}feed_forward.linear1.bias"] = (hidden,)
        shapes[f"{at}feed_forward.linear2.weight"] = (features, hidden)
        shapes[f"{at}feed_forward.linear2.bias"] = (features,)
        for layer in ("norm1", "norm2"):
            shapes |= {f"{at}{layer}.weight": (features,), f"{at}{layer}.bias": (features,)}
    if norm == "pre":
        shapes |= {"final_norm.weight": (features,), "final_norm.bias": (features,)}
    return shapes


def encoder(source, make, sizes, seed, dtype=torch.float64, norm="pre", told=True):
    """Build Encoder with random parameters, in evaluation; `told`: whether to pass norm."""
    hidden, blocks, (heads, size) = sizes[2:]
    features = heads * size
    options = {"norm": norm} if told else {}
    built = source.build(
        "Encoder", WORDS, LONGEST, features, heads, hidden, blocks, **options
    ).train(False)
    state = make.state(parameter_shapes(features, hidden, blocks, norm), seed=seed)
    # Norms have weights around 1, as they do in a trained stack.
    state = {key: value + 1 if is_gain(key) else value for key, value in state.items()}
    return built.to(dtype).load({key: value.to(dtype) for key, value in state.items()})


def is_gain(key):
    """Return whether this is the weight of a norm."""
    return "norm" in key and key.endswith("weight")


def draw_ids(make, sizes, seed):
    """Draw tokens (B, T)."""
    return make.integers(sizes[0], sizes[1], seed=seed, below=WORDS)


def draw_mask(make, kind, sizes, seed):
    """Draw a mask of this kind, or None."""
    if kind == "none":
        return None
    batch, length = sizes[:2]
    return make.mask(*([batch] if "B" in kind else []), length, length, seed=seed)


@pytest.mark.criterion(
    points=2, source="slides, pages 15 and 31; session, knowledge point 5", examples=2
)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_pre(component, reference, expect, make, seed, sizes, kind):
    """norm="pre", the default, is right for random parameters, tokens and masks"""
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, kind, sizes, seed)
    right = encoder(reference, make, sizes, seed)(ids, mask).output
    found = encoder(component, make, sizes, seed, told=False)(ids, mask).output
    expect.close(found, right, scale=10, names="B T D")


@pytest.mark.criterion(points=1.25, source="session, knowledge point 5")
@given(seed=SEEDS, sizes=SIZES, kind=MASKS)
def test_post(component, reference, expect, make, seed, sizes, kind):
    """norm="post" is right for random parameters, tokens and masks"""
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, kind, sizes, seed)
    right = encoder(reference, make, sizes, seed, norm="post")(ids, mask).output
    found = encoder(component, make, sizes, seed, norm="post")(ids, mask).output
    expect.close(found, right, scale=10, names="B T D")


@pytest.mark.criterion(points=1.5, source="slides, pages 5 and 15", examples=2)
@given(seed=SEEDS, sizes=SIZES, kind=MASKS, norm=NORMS)
def test_stream(component, reference, expect, make, seed, sizes, kind, norm):
    """the stream is right for random parameters, tokens and masks"""
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, kind, sizes, seed)
    right = encoder(reference, make, sizes, seed, norm=norm).call("stream", ids, mask).output
    found = encoder(component, make, sizes, seed, norm=norm).call("stream", ids, mask).output
    expect.close(found, right, "the stream", scale=10, names="N+1 B T D")


@pytest.mark.criterion(points=0.25, source="handout")
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_one_of_everything(component, reference, expect, make, norm):
    """the encoder is right for one sequence of one token, one head, one block and d_ff = 1"""
    sizes = (1, 1, 1, 1, (1, 6))
    ids, mask = draw_ids(make, sizes, 3), torch.ones(1, 1, dtype=torch.bool)
    right = encoder(reference, make, sizes, 4, norm=norm)(ids, mask).output
    found = encoder(component, make, sizes, 4, norm=norm)(ids, mask).output
    expect.close(found, right, scale=5, names="B T D")


@pytest.mark.criterion(points=1, source="handout")
@given(seed=SEEDS, kind=MASKS, norm=NORMS)
def test_gradients(component, reference, expect, make, seed, kind, norm):
    """the gradients of both embeddings and of every block's parameters are right"""
    sizes = (2, 4, 5, 2, (2, 3))
    ids, mask = draw_ids(make, sizes, seed), draw_mask(make, kind, sizes, seed)
    cotangent = make.normal(2, 4, 6, seed=seed, dtype=torch.float64)
    gradients = []
    for source in (component, reference):
        built = encoder(source, make, sizes, seed, norm=norm)
        answer = built.asking(cotangent=cotangent)(ids, mask)
        expect.shape(answer.output, (2, 4, 6), names="B T D")
        gradients.append(answer.parameter_gradients)
    for name, gradient in gradients[1].items():
        expect.close(gradients[0].get(name), gradient, f"the gradient of {name}", scale=50)
