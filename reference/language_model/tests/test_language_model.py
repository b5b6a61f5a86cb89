"""Hidden checks of language_model.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
# B, T and N, then D with H. Few examples are drawn; the first uses the first entry of every list.
SIZES = st.tuples(
    *(st.sampled_from(n) for n in ([2, 1, 3], [4, 3, 1, 6], [1, 2, 0])),
    st.sampled_from([(6, 2), (4, 4), (6, 3), (6, 1)]),
)
WORDS, LENGTH, HIDDEN = 7, 6, 5
ATTENTION = ("q_linear", "k_linear", "v_linear", "out_proj")


def drawn_state(make, features, layers, seed):
    """Make random parameters; the weights of norms are around 1, as in a trained model."""
    linear = {f"attention.{name}": (features, features) for name in ATTENTION}
    linear["feed_forward.linear1"] = (HIDDEN, features)
    linear["feed_forward.linear2"] = (features, HIDDEN)
    shapes = {"token_embedding.weight": (WORDS, features), "positions.weight": (LENGTH, features)}
    norms = ["final_norm"]
    for number in range(layers):
        for name, shape in linear.items():
            shapes[f"blocks.{number}.{name}.weight"] = shape
            shapes[f"blocks.{number}.{name}.bias"] = shape[:1]
        norms += [f"blocks.{number}.norm1", f"blocks.{number}.norm2"]
    for name in norms:
        shapes |= {f"{name}.weight": (features,), f"{name}.bias": (features,)}
    state = make.state({f"encoder.{key}": shape for key, shape in shapes.items()}, seed=seed)
    for name in norms:
        state[f"encoder.{name}.weight"] += 1
    return state


def build(source, make, sizes, seed, dtype=torch.float64):
    """Build a model with random parameters."""
    layers, (features, heads) = sizes[2:]
    arguments = (WORDS, LENGTH, features, heads, HIDDEN, layers, 0.0)
    built = source.build("LanguageModel", *arguments).to(dtype).train(False)
    state = drawn_state(make, features, layers, seed)
    return built.load({key: value.to(dtype) for key, value in state.items()})


@pytest.mark.criterion(points=1.5, source="slides, pages 28 to 31", examples=2)
@given(seed=SEEDS, sizes=SIZES)
def test_random_logits(component, reference, expect, make, seed, sizes):
    """the logits are right for random parameters and tokens, in both modes"""
    tokens = make.integers(*sizes[:2], seed=seed, below=WORDS)
    right = build(reference, make, sizes, seed)(tokens).output
    model = build(component, make, sizes, seed)
    for mode in ("evaluation", "training"):
        found, what = model.train(mode == "training")(tokens).output, f"the result in {mode} mode"
        expect.close(found, right, what, scale=10, names="B T V")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, batch=st.integers(1, 3), length=st.integers(2, 5), words=st.integers(2, 9))
def test_random_loss(component, reference, expect, make, seed, batch, length, words):
    """loss and perplexity are right for random logits and tokens"""
    logits = make.normal(batch, length, words, seed=seed, deviation=2.0)
    tokens = make.integers(batch, length, seed=seed + 1, below=words)
    right = reference.call("next_token_loss", logits, tokens).output
    expect.close(component.call("next_token_loss", logits, tokens).output, right, "the loss")
    found = component.call("perplexity", right).output
    expect.close(found, right.exp(), "the perplexity of the right loss", scale=2)


@pytest.mark.criterion(points=1, source="handout")
@given(seed=SEEDS, pad=st.sampled_from([0, 4, 2]), batch=st.integers(1, 3), side=st.booleans())
def test_random_padding(component, reference, expect, make, seed, pad, batch, side):
    """the loss is right for padded sequences of different lengths, on either side"""
    logits = make.normal(batch, 5, 6, seed=seed, deviation=2.0)
    tokens = make.integers(batch, 5, seed=seed + 1, below=6)
    for number in range(batch):
        cut = slice(0, number) if side else slice(4 - number, 5)
        tokens[number, cut] = pad
    tokens[0, 1] = (pad + 1) % 6
    right = reference.call("next_token_loss", logits, tokens, pad_id=pad).output
    found = component.call("next_token_loss", logits, tokens, pad_id=pad).output
    expect.close(found, right, "the loss")


@pytest.mark.criterion(points=1, source="handout", examples=2)
@given(seed=SEEDS, sizes=SIZES)
def test_parameter_gradients(component, reference, expect, make, seed, sizes):
    """the gradients of every parameter are right, in both modes"""
    tokens = make.integers(*sizes[:2], seed=seed, below=WORDS)
    cotangent = make.normal(*sizes[:2], WORDS, seed=seed + 1, dtype=torch.float64)
    right = build(reference, make, sizes, seed).asking(cotangent=cotangent)(tokens)
    model = build(component, make, sizes, seed)
    for mode in ("evaluation", "training"):
        answer = model.train(mode == "training").asking(cotangent=cotangent)(tokens)
        expect.that(answer)
        found = answer.parameter_gradients
        for name, gradient in right.parameter_gradients.items():
            what = f"the gradient of {name} in {mode} mode"
            expect.close(found.get(name), gradient, what, scale=50)


@pytest.mark.criterion(points=0.5, source="handout")
@given(seed=SEEDS, pad=st.sampled_from([None, 1]))
def test_loss_gradient(component, reference, expect, make, seed, pad):
    """the gradient of the logits is right, and 0 at positions that do not count"""
    logits = make.normal(2, 4, 5, seed=seed, dtype=torch.float64)
    tokens, one = make.integers(2, 4, seed=seed + 1, below=5), torch.tensor(1.0).double()
    tokens[0, 1] = 2
    args = ("next_token_loss", logits, tokens, pad)
    right = reference.asking(cotangent=one).call(*args).gradients[0]
    found = component.asking(cotangent=one).call(*args)
    expect.that(found)
    expect.close(found.gradients[0], right, "the gradient of the logits", scale=5, names="B T V")
