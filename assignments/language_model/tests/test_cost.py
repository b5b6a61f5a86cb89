"""Public checks of cost.py. Source: session, knowledge point 5; no counts are printed there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.integers(1, 40)
SIZES = st.integers(1, 40)
SOURCE = "session, knowledge point 5"


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_projections(component, expect):
    """projection_cost(5, 64) is 81,920"""
    expect.same(component.call("projection_cost", 5, 64).number, 81_920, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_attention(component, expect):
    """attention_cost(5, 64) is 3,200"""
    expect.same(component.call("attention_cost", 5, 64).number, 3_200, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE)
def test_feed_forward(component, expect):
    """feed_forward_cost(5, 64, 256) is 163,840, and feed_forward_cost(3, 10, 7) is 420"""
    for sizes, right in (((5, 64, 256), 163_840), ((3, 10, 7), 420)):
        expect.same(component.call("feed_forward_cost", *sizes).number, right, "the count")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize(
    ("layers", "right"),
    [(1, 248_960), (2, 497_920), (0, 0)],
    ids=["one block", "two blocks", "no block"],
)
def test_encoder(component, expect, layers, right):
    """encoder_cost(5, 64, 256, layers) is 248,960 for one block, twice that for two, 0 for none"""
    expect.same(component.call("encoder_cost", 5, 64, 256, layers).number, right, "the count")


@pytest.mark.criterion(points=0.5, source=SOURCE, examples=2)
@given(n=LENGTHS, d=SIZES, f=SIZES)
def test_growth(component, expect, n, d, f):
    """twice the tokens cost four times as much in attention, twice as much elsewhere"""
    for name, sizes, factor in (
        ("projection_cost", (d,), 2),
        ("attention_cost", (d,), 4),
        ("feed_forward_cost", (d, f), 2),
    ):
        short = component.call(name, n, *sizes).number
        long = component.call(name, 2 * n, *sizes).number
        expect.same(long, factor * short, f"{name} of {2 * n} tokens, compared with {n},")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize(
    ("d", "f", "right"),
    [(64, 256, 384), (10, 1, 21), (1, 50, 52), (512, 2048, 3072)],
    ids=["d 64, f 256", "d 10, f 1", "d 1, f 50", "d 512, f 2048"],
)
def test_meeting(component, expect, d, f, right):
    """meeting_length is right: 384 tokens for d = 64 and f = 256"""
    expect.same(component.call("meeting_length", d, f).number, right, "the number of tokens")


@pytest.mark.criterion(points=1, source=SOURCE)
@pytest.mark.parametrize("length", [1, 6], ids=["one token", "six tokens"])
def test_counted(component, expect, length):
    """counted_cost agrees with the formulas for your own encoder"""
    # The difference of two counts is one block, whatever else the encoder computes.
    whole, counts = component.provided("whole"), []
    for layers in (1, 2):
        built = whole.build("encoder", 9, 12, 8, 2, 20, layers)
        counts.append(component.call("counted_cost", built, length).number)
    right = 4 * length * 8 * 8 + 2 * length * length * 8 + 2 * length * 8 * 20
    what = "the count with two blocks, minus that with one block,"
    expect.same(counts[1] - counts[0], right, what)


@pytest.mark.criterion(points=0.5, source=SOURCE, form=True)
@pytest.mark.parametrize("training", [True, False])
def test_encoder_as_it_was(component, expect, training):
    """counted_cost does not change the encoder's mode or weights"""
    built = component.provided("whole").build("encoder", 3, 9, 8, 2, 20, 1).train(training)
    before = built.state().entries
    expect.that(component.call("counted_cost", built, 4))
    word = "training" if training else "evaluation"
    expect.that(
        built.get("training").flag == training,
        f"the encoder was in {word} mode before counted_cost, but not afterwards",
    )
    after = built.state().entries
    for key, value in before.items():
        expect.close(after[key], value, f"{key} afterwards")
