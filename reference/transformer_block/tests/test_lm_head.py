"""Hidden checks of lm_head.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 8))
WORDS = st.integers(1, 9)


def module(source, make, words, features, seed, dtype):
    """Build TiedLMHead over a drawn embedding."""
    weight = make.normal(words, features, seed=seed + 1, dtype=dtype, deviation=0.5)
    return source.build("TiedLMHead", make.embedding(weight)).to(dtype)


@pytest.mark.criterion(points=0.5, source="slides, page 30")
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_random_logits(component, reference, expect, make, seed, shape, words):
    """the logits are right for random embeddings and inputs"""
    hidden = make.normal(*shape, seed=seed)
    arguments = (make, words, shape[-1], seed, torch.float32)
    right = module(reference, *arguments)(hidden).output
    actual = module(component, *arguments)(hidden).output
    expect.close(actual, right, like=hidden, names="B T V")


@pytest.mark.criterion(points=1, source="slides, page 28")
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_random_probabilities(component, reference, expect, make, seed, shape, words):
    """the probabilities are right for random embeddings and inputs"""
    hidden = make.normal(*shape, seed=seed)
    arguments = (make, words, shape[-1], seed, torch.float32)
    method = "next_token_probabilities"
    right = module(reference, *arguments).call(method, hidden).output
    actual = module(component, *arguments).call(method, hidden).output
    expect.close(actual, right, like=hidden, names="B V")


@pytest.mark.criterion(points=0.5, source="slides, page 28")
@given(seed=SEEDS)
def test_large_logits(component, reference, expect, make, seed):
    """logits in the hundreds give probabilities, not NaN"""
    # Whole numbers: the logits are exact, however they are added up.
    weight = (make.integers(6, 4, seed=seed, below=5) - 2).to(torch.float32)
    hidden = (make.integers(3, 1, 4, seed=seed + 1, below=5) - 2).to(torch.float32) * 60
    method = "next_token_probabilities"
    right = reference.build("TiedLMHead", make.embedding(weight)).call(method, hidden).output
    actual = component.build("TiedLMHead", make.embedding(weight)).call(method, hidden).output
    expect.close(actual, right, names="B V")


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_dtypes(component, expect, make):
    """float64 in, float64 out; bfloat16 in, bfloat16 out"""
    hidden, weight = make.normal(2, 3, 6, seed=1), make.normal(5, 6, seed=2, deviation=0.5)
    head = component.build("TiedLMHead", make.embedding(weight))
    method = "next_token_probabilities"
    logits, probabilities = head(hidden).output, head.call(method, hidden).output
    for dtype in (torch.float64, torch.bfloat16):
        same = hidden.to(dtype)
        actual = head.to(dtype)(same).output
        expect.close(actual, logits, f"the result for {dtype}", like=same, names="B T V")
        actual = head.call(method, same).output
        expect.close(actual, probabilities, f"the result for {dtype}", like=same, names="B V")


@pytest.mark.criterion(points=0.5, source="slides, page 30")
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_input_gradient(component, reference, expect, make, seed, shape, words):
    """gradients flow from the logits back to the hidden vectors"""
    hidden = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape[:2], words, seed=seed + 2, dtype=torch.float64)
    arguments = (make, words, shape[-1], seed, torch.float64)
    right = module(reference, *arguments).asking(cotangent=cotangent)(hidden)
    actual = module(component, *arguments).asking(cotangent=cotangent)(hidden)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=5, names="B T D"
    )


@pytest.mark.criterion(points=1, source="slides, page 30")
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_embedding_gradient(component, reference, expect, make, seed, shape, words):
    """training the head trains the embedding: its weight gets the gradient"""
    hidden = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape[:2], words, seed=seed + 2, dtype=torch.float64)
    arguments = (make, words, shape[-1], seed, torch.float64)
    right = module(reference, *arguments).asking(cotangent=cotangent)(hidden)
    actual = module(component, *arguments).asking(cotangent=cotangent)(hidden)
    expect.close(
        actual.given_gradient,
        right.given_gradient,
        "the embedding's gradient",
        scale=5,
        names="V D",
    )


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_non_contiguous(component, expect, make):
    """a transposed or strided input gives the same result as a contiguous one"""
    x = make.normal(3, 4, 4, seed=1)
    head = component.build("TiedLMHead", make.embedding(make.normal(5, 4, seed=2)))
    for view in (x.transpose(1, 2), x[:, ::2], x[:1].expand(2, 4, 4)):
        right = head(view.contiguous()).output
        expect.close(head(view).output, right, names="B T V")


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_input_untouched(component, expect, make):
    """the hidden vectors and the embedding are left as they were"""
    weight, hidden = make.normal(5, 4, seed=3), make.normal(2, 3, 4, seed=4)
    head = component.build("TiedLMHead", make.embedding(weight))
    for method in ("", "next_token_probabilities"):
        expect.unchanged(head.asking(keep_inputs=True).call(method, hidden), hidden)
    expect.close(head.state().given, weight, "the embedding after the calls", names="V D")


@pytest.mark.criterion(points=0.5, source="slides, page 30")
def test_device(component, expect, make):
    """no device is written into the code"""
    hidden = torch.empty(2, 3, 4, device="meta")
    head = component.build("TiedLMHead", make.embedding(torch.ones(5, 4))).to(device="meta")
    expect.follows_device(head(hidden), (2, 3, 5), names=("B T V",))
    answer = head.call("next_token_probabilities", hidden)
    expect.follows_device(answer, (2, 5), names=("B V",))
