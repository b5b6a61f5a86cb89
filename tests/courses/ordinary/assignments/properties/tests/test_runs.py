"""Public tests of runs."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from runs import decode, encode

TEXTS = st.text(alphabet="ab\n", max_size=12)


def test_example():
    assert encode("aab") == [("a", 2), ("b", 1)]
    assert decode([("x", 3), ("y", 1)]) == "xxxy"


@given(TEXTS)
@settings(max_examples=50, deadline=None)
def test_there_and_back(text):
    """decoding gives the text back"""
    assert decode(encode(text)) == text


@given(text=TEXTS)
@example(text="")
@example(text="aaaa")
@settings(max_examples=50, deadline=None)
def test_neighbours_differ(text):
    """no two runs of the same letter follow each other"""
    runs = encode(text)
    for (letter, count), (following, _) in zip(runs, runs[1:], strict=False):
        assert letter != following
        assert count >= 1
    assert sum(count for _, count in runs) == len(text)
