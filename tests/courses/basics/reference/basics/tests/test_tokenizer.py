"""Hidden checks of tokenizer.py: comparison with the reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
ALPHABETS = {"ascii": "abc ", "accents": "aéèö", "symbols": "☃🙂b–"}


def drawn(make, alphabet, length, seed):
    """Draw a text."""
    numbers = make.integers(length, seed=seed, below=len(alphabet)).tolist()
    return "".join(alphabet[number] for number in numbers)


@pytest.mark.criterion(points=1.5, source="handout, section 1")
@pytest.mark.parametrize("kind", ["ascii", "accents", "symbols"])
def test_encode(component, reference, expect, make, kind):
    """ids are right for texts in ASCII, with accents and with symbols; without merges, the bytes"""
    learnt, asked = (drawn(make, ALPHABETS[kind], 80, seed) for seed in (1, 2))
    right = reference.make("Tokenizer.train", learnt, 275)
    actual = component.make("Tokenizer.train", learnt, 275)
    ids = right.call("encode", asked).items()
    expect.same(actual.call("encode", asked).items(), ids, "the ids")
    plain = component.make("Tokenizer", []).call("encode", asked)
    expect.same(plain.items(), list(asked.encode("utf-8")), "the ids without merges")


@pytest.mark.criterion(points=1, source="handout, section 1")
@given(seed=SEEDS, more=st.integers(8, 40))
def test_train(component, reference, expect, make, seed, more):
    """the merges of random texts are right, in number and order"""
    text = drawn(make, "abcd", 60, seed)
    right = reference.make("Tokenizer.train", text, 256 + more)
    actual = component.make("Tokenizer.train", text, 256 + more)
    expect.same(actual.get("merges").items(), right.get("merges").items(), "the merges")
    expect.same(actual.get("vocab_size").number, right.get("vocab_size").number, "vocab_size")


@pytest.mark.criterion(points=1, source="handout, section 1")
def test_save_and_load(component, reference, expect):
    """a tokenizer that was saved and loaded works as before"""
    # The text is read in the same place as the component runs.
    text = component.provided("corpus").make("text")
    first = component.make("Tokenizer.train", text, 300)
    expect.that(first.call("save", "saved_tokenizer.json"))
    second = component.make("Tokenizer.load", "saved_tokenizer.json")
    right = reference.make("Tokenizer.train", reference.provided("corpus").make("text"), 300)
    for wanted in ("Alice ran after the Rabbit", "naïve ☃"):
        ids = right.call("encode", wanted).items()
        expect.same(second.call("encode", wanted).items(), ids, "the ids after loading")
    expect.same(second.get("merges").items(), right.get("merges").items(), "the merges")
    expect.same(second.get("vocab_size").number, 300, "vocab_size")


@pytest.mark.criterion(points=0.5, source="handout, section 1")
def test_pieces(component, expect):
    """pieces yields the bytes of one id after the other, and ends with them"""
    tokenizer = component.make("Tokenizer", [(97, 98), (256, 99), (195, 169)])
    pieces = tokenizer.make("pieces", "abcabéè")
    expect.same(pieces.take(2).items(), [b"abc", b"ab"], "the first two pieces")
    expect.same(pieces.take(1).items(), [b"\xc3\xa9"], "the third piece")
    expect.same(pieces.take(9).items(), [b"\xc3", b"\xa8"], "the last pieces")
    expect.same(pieces.take(1).items(), [], "what comes after the last piece")


@pytest.mark.criterion(points=0.5, source="handout, section 1")
@given(seed=SEEDS)
def test_decode(component, reference, expect, make, seed):
    """any ids can be decoded, also where they are no UTF-8"""
    merges = [(195, 169), (97, 256), (226, 152), (258, 131)]
    ids = [*make.integers(40, seed=seed, below=260).tolist(), 258, 131, 195, 168, 226]
    right = reference.make("Tokenizer", merges).call("decode", ids).text
    answer = component.make("Tokenizer", merges).call("decode", ids)
    expect.same(answer.text, right, "the text")


@pytest.mark.criterion(points=0.5, source="handout, section 1")
def test_growth(component, expect, make):
    """the time of merge grows in proportion to the text"""
    sizes, costs = [500, 4000, 16000], []
    for size in sizes:
        ids = make.integers(size, seed=size, below=2).tolist()
        answer = component.asking(cost=True).call("merge", ids, (0, 1), 2)
        pairs = bytes(ids).count(b"\0\1")
        expect.same(len(answer.items()), size - pairs, "the number of ids")
        costs.append(answer.seconds)
    expect.growth(sizes, costs, 1)
