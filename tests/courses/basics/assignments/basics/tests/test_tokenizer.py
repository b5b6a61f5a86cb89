"""Public checks of tokenizer.py. Source: handout, section 1."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

CORPUS = (Path(__file__).parent.parent / "data" / "corpus.txt").read_text("utf-8")
# "aaabdaaabac" has these merges; 258 is "aaab".
MERGES = [(97, 97), (97, 98), (256, 257)]


@pytest.mark.criterion(points=0.5, source="handout, section 1")
def test_merge(component, expect):
    """merge replaces a pair from left to right, and leaves the list it was given"""
    answer = component.call("merge", [1, 1, 1, 2, 1, 2], (1, 1), 300)
    expect.same(answer.items(), [300, 1, 2, 1, 2])
    expect.same(component.call("merge", [5, 1, 2, 1, 2], (1, 2), 9).items(), [5, 9, 9])
    expect.same(component.call("merge", [], (1, 2), 9).items(), [])


@pytest.mark.criterion(points=1, source="handout, section 1")
def test_worked_example(component, expect):
    """aaabdaaabac has the merges (97, 97), (97, 98) and (256, 257)"""
    tokenizer = component.make("Tokenizer.train", "aaabdaaabac", 259)
    expect.same(tokenizer.get("merges").items(), MERGES, "the merges")
    expect.same(tokenizer.get("vocab_size").number, 259, "vocab_size")
    expect.same(tokenizer.call("encode", "aaabdaaabac").items(), [258, 100, 258, 97, 99])


@pytest.mark.criterion(points=0.5, source="handout, section 1")
def test_stops_early(component, expect):
    """training ends where no pair occurs twice"""
    tokenizer = component.make("Tokenizer.train", "abcabd", 300)
    expect.same(tokenizer.get("merges").items(), [(97, 98)], "the merges")
    expect.same(tokenizer.get("vocab_size").number, 257, "vocab_size")
    empty = component.make("Tokenizer.train", "", 300)
    expect.same(empty.get("merges").items(), [], "the merges of an empty text")


@pytest.mark.criterion(points=1, source="handout, section 1")
def test_corpus(component, expect):
    """of data/corpus.txt the first merge is "e " and the sixth is "he " """
    tokenizer = component.make("Tokenizer.train", CORPUS, 270)
    first = tokenizer.get("merges").items(14)[:6]
    right = [(101, 32), (32, 116), (101, 114), (116, 32), (105, 110), (104, 256)]
    expect.same(first, right, "the first six merges")
    expect.same(tokenizer.call("decode", [84, 261, 257]).text, "The  t", "the text of the ids")


@pytest.mark.criterion(points=1, form=True, source="handout, section 1")
@given(text=st.text(max_size=30))
def test_round_trip(component, expect, text):
    """decode gives back what was encoded, whatever the alphabet"""
    text += " – ça va? – "
    tokenizer = component.make("Tokenizer.train", text * 2, 262)
    ids = tokenizer.make("encode", text)
    expect.same(tokenizer.call("decode", ids).text, text, "the decoded text")


@pytest.mark.criterion(points=1, source="handout, section 1")
def test_errors(component, expect):
    """a vocabulary of less than 256 ids and an id that does not exist are a ValueError"""
    expect.raises(component.make("Tokenizer.train", "abab", 255).get("merges"), "ValueError")
    least = component.make("Tokenizer.train", "abab", 256)
    expect.same(least.get("merges").items(), [], "the merges of a vocabulary of 256")
    tokenizer = component.make("Tokenizer", MERGES)
    expect.same(tokenizer.call("decode", [258, 0]).text, "aaab\0", "the text of [258, 0]")
    for ids in ([259], [97, -1]):
        expect.raises(tokenizer.call("decode", ids), "ValueError")
