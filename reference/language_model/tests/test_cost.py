"""Hidden checks of cost.py: comparison with the reference, and with the judge's own count."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.integers(1, 5000)
SIZES = st.integers(1, 5000)
SOURCE = "session, knowledge point 5"


@pytest.mark.criterion(points=0.5, source=SOURCE)
@given(n=LENGTHS, d=SIZES)
def test_random_projections(component, reference, expect, n, d):
    """the count of the projections is right for random sizes"""
    right = reference.call("projection_cost", n, d).number
    expect.same(component.call("projection_cost", n, d).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
@given(n=LENGTHS, d=SIZES)
def test_random_attention(component, reference, expect, n, d):
    """the count of attention is right for random sizes"""
    right = reference.call("attention_cost", n, d).number
    expect.same(component.call("attention_cost", n, d).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
@given(n=LENGTHS, d=SIZES, f=SIZES)
def test_random_feed_forward(component, reference, expect, n, d, f):
    """the count of the feed-forward layer is right for random sizes"""
    right = reference.call("feed_forward_cost", n, d, f).number
    expect.same(component.call("feed_forward_cost", n, d, f).number, right, "the count")


@pytest.mark.criterion(points=1, source=SOURCE)
@given(n=LENGTHS, d=SIZES, f=SIZES, layers=st.integers(0, 100))
def test_random_encoder(component, reference, expect, n, d, f, layers):
    """the count of all blocks is right for random sizes, also without a block"""
    for number in (layers, 0):
        right = reference.call("encoder_cost", n, d, f, number).number
        expect.same(component.call("encoder_cost", n, d, f, number).number, right, "the count")


@pytest.mark.criterion(points=1, source=SOURCE)
@given(d=st.integers(1, 300), f=st.integers(1, 900))
def test_random_meeting(component, reference, expect, d, f):
    """the length at which they meet is right for random sizes, to the token"""
    right = reference.call("meeting_length", d, f).number
    expect.same(component.call("meeting_length", d, f).number, right, "the number of tokens")


@pytest.mark.criterion(points=1, source=SOURCE)
@given(
    n=st.integers(1, 9),
    features=st.integers(1, 3),
    inside=st.integers(1, 20),
    layers=st.integers(0, 2),
    norm=st.sampled_from(["pre", "post"]),
)
def test_own_encoder(component, expect, n, features, inside, layers, norm):
    """counted_cost is half of the operations that the grader counts in your encoder"""
    built = component.build("Encoder", 3, 9, 4 * features, 2, inside, layers, norm=norm)
    answer = built.asking(cost=True)(torch.zeros(1, n, dtype=torch.long))
    counted = component.call("counted_cost", built, n).number
    expect.same(2 * counted, answer.operations, "twice the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_device(component, expect):
    """an encoder on another device is counted, too"""
    counts = []
    for layers in (1, 2):
        built = component.build("Encoder", 9, 12, 8, 2, 20, layers).to(device="meta")
        counts.append(component.call("counted_cost", built, 6).number)
    right = 4 * 6 * 8 * 8 + 2 * 6 * 6 * 8 + 2 * 6 * 8 * 20
    expect.same(counts[1] - counts[0], right, "the count of the second block")
