"""Hidden checks of cost.py: comparison with the reference, and with the judge's own count."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.integers(1, 5000)
SIZES = st.integers(1, 5000)
SOURCE = "session, knowledge point 5"


@pytest.mark.criterion(points=0.5, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES)
def test_random_projections(component, reference, expect, n, d):
    """projection_cost is right for random sizes"""
    right = reference.call("projection_cost", n, d).number
    expect.same(component.call("projection_cost", n, d).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES)
def test_random_attention(component, reference, expect, n, d):
    """attention_cost is right for random sizes"""
    right = reference.call("attention_cost", n, d).number
    expect.same(component.call("attention_cost", n, d).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES, f=SIZES)
def test_random_feed_forward(component, reference, expect, n, d, f):
    """feed_forward_cost is right for random sizes"""
    right = reference.call("feed_forward_cost", n, d, f).number
    expect.same(component.call("feed_forward_cost", n, d, f).number, right, "the count")


@pytest.mark.criterion(points=1, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES, f=SIZES, layers=st.integers(0, 100))
def test_random_encoder(component, reference, expect, n, d, f, layers):
    """encoder_cost is right for random sizes, also with 0 layers"""
    for number in (layers, 0):
        right = reference.call("encoder_cost", n, d, f, number).number
        expect.same(component.call("encoder_cost", n, d, f, number).number, right, "the count")


@pytest.mark.criterion(points=1, source=SOURCE, examples=2)
@given(d=st.integers(1, 300), f=st.integers(1, 900))
def test_random_meeting(component, reference, expect, d, f):
    """meeting_length is exactly right for random sizes"""
    right = reference.call("meeting_length", d, f).number
    expect.same(component.call("meeting_length", d, f).number, right, "the number of tokens")


@pytest.mark.criterion(points=1, source=SOURCE, examples=3)
@given(
    n=st.integers(1, 9),
    features=st.integers(1, 3),
    inside=st.integers(1, 20),
    layers=st.integers(1, 3),
    norm=st.sampled_from(["pre", "post"]),
)
def test_own_encoder(component, expect, n, features, inside, layers, norm):
    """counted_cost is half of the operations that the grader counts in your encoder"""
    whole = component.provided("whole")
    built = whole.build("encoder", 3, 9, 4 * features, 2, inside, layers, norm=norm)
    answer = built.asking(cost=True)(torch.zeros(1, n, dtype=torch.long))
    counted = component.call("counted_cost", built, n).number
    expect.same(2 * counted, answer.operations, "twice the count")
