"""Hidden checks of generate.py: comparison with the reference, and frequencies of samples."""

import math

import pytest
import torch
from hypothesis import assume, example, given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
SHARES = [0.15, 0.5, 0.1, 0.25]
LOGITS = torch.tensor(SHARES).log()
NAME = "next_probabilities"


def clear(logits, temperature, top_k, top_p):
    """Return whether no two logits are nearly equal and no sum of shares is near top_p."""
    ordered = (logits.double() / temperature).sort(dim=-1, descending=True).values
    sums = ordered[..., :top_k].softmax(dim=-1).cumsum(dim=-1)
    near = bool((-ordered.diff(dim=-1) < 1e-3).any())
    return not near and (top_p is None or not bool(((sums - top_p).abs() < 1e-3).any()))


def adder(component, **more):
    """Build the model that predicts the sum of its tokens, modulo 10."""
    return component.provided("scripted").build("Adder", 10, **more)


def drawn(component, rows, count, seed=0, **options):
    """Generate words with the probabilities 0.15, 0.5, 0.1 and 0.25 at every step."""
    model = component.provided("scripted").build("Table", LOGITS.expand(4, 4).clone())
    prompt = torch.zeros(rows, 1, dtype=torch.long)
    return component.asking(seed=seed).call("generate", model, prompt, count, **options).output


def off(share, right, count):
    """Return whether the share among `count` draws is over 5 standard deviations off."""
    return abs(share - right) > 5 * math.sqrt(right * (1 - right) / count) + 1e-9


@pytest.mark.criterion(points=0.5, source="handout")
@given(
    seed=SEEDS,
    shape=st.tuples(st.integers(1, 3), st.integers(1, 8)),
    temperature=st.floats(0.3, 3.0),
    top_k=st.none() | st.integers(1, 9),
    top_p=st.none() | st.floats(0.05, 0.99),
)
@example(seed=1, shape=(2, 7), temperature=0.7, top_k=4, top_p=None)
@example(seed=2, shape=(3, 6), temperature=1.6, top_k=None, top_p=0.7)
@example(seed=3, shape=(2, 8), temperature=1.5, top_k=5, top_p=0.8)
def test_random(component, reference, expect, make, seed, shape, temperature, top_k, top_p):
    """the probabilities are right for random logits, temperatures, top_k and top_p"""
    logits = make.normal(*shape, seed=seed, deviation=2.0)
    assume(clear(logits, temperature, top_k, top_p))
    right = reference.call(NAME, logits, temperature, top_k, top_p).output
    answer = component.call(NAME, logits, temperature, top_k, top_p)
    expect.close(answer.output, right, like=logits, names="B V")


@pytest.mark.criterion(points=0.5, source="handout")
def test_leading_dimensions(component, reference, expect, make):
    """next_probabilities treats every row separately, for any leading dimensions and layout"""
    logits = make.normal(5, 3, 4, 2, seed=2, deviation=2.0)
    for view in (logits.permute(1, 3, 2, 0), logits[::2].transpose(0, 3), logits[0, 0, 0]):
        for options in ({}, {"temperature": 0.0}, {"top_k": 2}, {"top_p": 0.7}):
            right = reference.call(NAME, view.contiguous(), **options).output
            expect.close(component.call(NAME, view, **options).output, right, names="... V")


@pytest.mark.criterion(points=0.5, source="handout")
def test_dtypes(component, expect):
    """the probabilities have the logits' dtype: float32, float64 or bfloat16"""
    logits = torch.tensor([0.0, 2.0, -1.0, 1.0])
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        same, what = logits.to(dtype), f"the result for {dtype}"
        actual = component.call(NAME, same).output
        expect.close(actual, logits.softmax(-1), what, like=same, names="V")
        actual = component.call(NAME, same, 1.0, 3, 0.8).output
        expect.close(actual, [0.0, 0.7310586, 0.0, 0.2689414], what, like=same, names="V")
        actual = component.call(NAME, same, 0.0).output
        expect.close(actual, [0.0, 1.0, 0.0, 0.0], what, like=same, names="V")


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_device(component, expect):
    """the probabilities are on the logits' device (no hard-coded device)"""
    logits = torch.empty(2, 5, device="meta")
    for options in ({}, {"temperature": 0.0}, {"top_k": 2}):
        expect.follows_device(component.call(NAME, logits, **options), (2, 5), names=("B V",))


@pytest.mark.criterion(points=0.5, form=True, source="handout")
def test_input_untouched(component, expect):
    """logits and prompt are not modified"""
    for options in ((0.5, None, None), (1.0, 2, None), (1.0, None, 0.8), (0.0, None, None)):
        expect.unchanged(component.asking(keep_inputs=True).call(NAME, LOGITS, *options), LOGITS)
    prompt = torch.tensor([[1, 2], [1, 1]])
    asked = component.asking(keep_inputs=True)
    expect.unchanged(asked.call("generate", adder(component), prompt, 3, end_id=2), prompt)


@pytest.mark.criterion(points=0.5, source="handout")
def test_large_logits(component, expect):
    """logits of tens of thousands give correct probabilities, not NaN"""
    logits = torch.tensor([[3e4, -3e4, 3e4 - 1], [-4e4, -4e4 + 1, -5e4]])
    for options in ((0.5, None, None), (0.5, 2, None), (0.5, None, 0.95)):
        answer = component.call(NAME, logits, *options)
        right = [[0.8807971, 0.0, 0.1192029], [0.1192029, 0.8807971, 0.0]]
        expect.close(answer.output, right, names="B V")


@pytest.mark.criterion(points=0.5, source="handout")
def test_draws(component, expect):
    """generate samples every word with its probability"""
    tokens = expect.shape(drawn(component, 2000, 1), (2000, 2), names="B T")
    for word, right in enumerate(SHARES):
        share = float((tokens[:, 1] == word).double().mean())
        expect.that(not off(share, right, 2000), f"word {word} is not drawn with its probability")


@pytest.mark.criterion(points=0.5, source="handout")
@pytest.mark.parametrize(
    ("options", "right"),
    [
        ({"temperature": 0.5}, [0.0652174, 0.7246377, 0.0289855, 0.1811594]),
        ({"top_k": 2}, [0.0, 2 / 3, 0.0, 1 / 3]),
        ({"top_p": 0.8}, [1 / 6, 5 / 9, 0.0, 5 / 18]),
    ],
)
def test_options(component, expect, options, right):
    """generate applies temperature, top_k and top_p"""
    tokens = expect.shape(drawn(component, 1500, 1, **options), (1500, 2), names="B T")
    for word, probability in enumerate(right):
        share = float((tokens[:, 1] == word).double().mean())
        fact = f"word {word} is not drawn with its probability, with {next(iter(options))}"
        expect.that(not off(share, probability, 1500), fact)


@pytest.mark.criterion(points=0.25, source="handout")
def test_every_draw_is_new(component, expect):
    """generate samples independently with torch's generator: same seed, same text"""
    tokens = expect.shape(drawn(component, 1000, 2, seed=1), (1000, 3), names="B T")
    again = drawn(component, 1000, 2, seed=1)
    expect.equal(again, tokens, "the text of a second call with the same seed", names="B T")
    other = drawn(component, 1000, 2, seed=2)
    expect.that(not torch.equal(other, tokens), "two seeds draw the same words")
    alike = sum(share * share for share in SHARES)
    steps = float((tokens[:, 1] == tokens[:, 2]).double().mean())
    expect.that(not off(steps, alike, 1000), "two steps are not independent")
    rows = float((tokens[:500, 1] == tokens[500:, 1]).double().mean())
    expect.that(not off(rows, alike, 500), "two sequences are not independent")


@pytest.mark.criterion(points=0.5, source="handout")
def test_early_stop(component, expect):
    """generate stops when every sequence has drawn end_id"""
    prompt = torch.tensor([[1, 1], [1, 2], [3, 3]])
    right = torch.tensor([[2, 2, 2], [3, 6, 2], [6, 2, 2]])
    answer = component.call("generate", adder(component), prompt, 9, end_id=2)
    expect.equal(answer.output, torch.cat([prompt, right], dim=1), names="B T")
    alone = component.call("generate", adder(component), prompt[:1], 9, end_id=2)
    expect.equal(alone.output, torch.tensor([[1, 1, 2]]), names="B T")
