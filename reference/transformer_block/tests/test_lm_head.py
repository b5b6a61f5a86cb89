"""Hidden checks of lm_head.py: comparison with the reference."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 8))
WORDS = st.integers(1, 9)


def module(source, make, words, features, seed, dtype):
    """Build TiedLMHead over a random embedding."""
    weight = make.normal(words, features, seed=seed + 1, dtype=dtype, deviation=0.5)
    return source.build("TiedLMHead", make.embedding(weight)).to(dtype)


@pytest.mark.criterion(points=0.5, source="slides, page 30", examples=2)
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_random_logits(component, reference, expect, make, seed, shape, words):
    """the logits are right for random embeddings and hidden vectors"""
    hidden = make.normal(*shape, seed=seed)
    arguments = (make, words, shape[-1], seed, torch.float32)
    right = module(reference, *arguments)(hidden).output
    actual = module(component, *arguments)(hidden).output
    expect.close(actual, right, names="B T V")


@pytest.mark.criterion(points=1, source="slides, page 28")
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_random_probabilities(component, reference, expect, make, seed, shape, words):
    """the probabilities are right for random embeddings and hidden vectors"""
    hidden = make.normal(*shape, seed=seed)
    arguments = (make, words, shape[-1], seed, torch.float32)
    method = "next_token_probabilities"
    right = module(reference, *arguments).call(method, hidden).output
    actual = module(component, *arguments).call(method, hidden).output
    expect.close(actual, right, names="B V")


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_input_gradient(component, reference, expect, make, seed, shape, words):
    """the gradient of the hidden vectors is right"""
    hidden = make.normal(*shape, seed=seed, dtype=torch.float64)
    cotangent = make.normal(*shape[:2], words, seed=seed + 2, dtype=torch.float64)
    arguments = (make, words, shape[-1], seed, torch.float64)
    right = module(reference, *arguments).asking(cotangent=cotangent)(hidden)
    actual = module(component, *arguments).asking(cotangent=cotangent)(hidden)
    expect.close(
        actual.gradients[0], right.gradients[0], "the input's gradient", scale=5, names="B T D"
    )


@pytest.mark.criterion(points=0.5, source="handout", examples=2)
@given(seed=SEEDS, shape=SHAPES, words=WORDS)
def test_embedding_gradient(component, reference, expect, make, seed, shape, words):
    """the gradient of the embedding is right"""
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
