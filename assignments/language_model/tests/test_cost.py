"""Public checks of cost.py. Source: session, knowledge point 5; no counts are printed there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.integers(1, 40)
SIZES = st.integers(1, 40)
SOURCE = "session, knowledge point 5"


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_projections(component, expect):
    """5 tokens with 64 features take 81,920 multiplications to project"""
    expect.same(component.call("projection_cost", 5, 64).number, 81_920, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_attention(component, expect):
    """5 tokens with 64 features take 3,200 multiplications to score and to add up"""
    expect.same(component.call("attention_cost", 5, 64).number, 3_200, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_feed_forward(component, expect):
    """5 tokens with 64 features, 256 inside, take 163,840 in the feed-forward layer"""
    expect.same(component.call("feed_forward_cost", 5, 64, 256).number, 163_840, "the count")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize(
    ("layers", "right"), [(1, 248_960), (2, 497_920)], ids=["one block", "two blocks"]
)
def test_encoder(component, expect, layers, right):
    """a block costs 248,960 for these 5 tokens, and two blocks twice that"""
    expect.same(component.call("encoder_cost", 5, 64, 256, layers).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES, f=SIZES)
def test_growth(component, expect, n, d, f):
    """twice the tokens: attention costs four times as much, all else twice as much"""
    for name, sizes, factor in (
        ("projection_cost", (d,), 2),
        ("attention_cost", (d,), 4),
        ("feed_forward_cost", (d, f), 2),
    ):
        short = component.call(name, n, *sizes).number
        long = component.call(name, 2 * n, *sizes).number
        expect.same(long, factor * short, f"{name} of {2 * n} tokens, beside that of {n}")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize(
    ("d", "f", "right"),
    [(64, 256, 384), (10, 1, 21), (1, 50, 52), (512, 2048, 3072)],
    ids=["d 64, f 256", "d 10, f 1", "d 1, f 50", "d 512, f 2048"],
)
def test_meeting(component, expect, d, f, right):
    """with 64 features and 256 inside, attention and all else meet at 384 tokens"""
    expect.same(component.call("meeting_length", d, f).number, right, "the number of tokens")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize("length", [1, 6], ids=["one token", "six tokens"])
def test_counted(component, expect, length):
    """what torch counts in your encoder of two blocks is what the formulas say"""
    # Two blocks count twice what one counts, whatever the encoder does beside its blocks.
    counts = []
    for layers in (1, 2):
        built = component.build("Encoder", 9, 12, 8, 2, 20, layers)
        counts.append(component.call("counted_cost", built, length).number)
    right = 4 * length * 8 * 8 + 2 * length * length * 8 + 2 * length * 8 * 20
    what = "the count with two blocks, less that with one block,"
    expect.same(counts[1] - counts[0], right, what)
