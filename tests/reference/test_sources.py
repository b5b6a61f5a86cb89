"""What criteria and mistakes cite is on the page that they cite."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from autograder.assignment import load_assignment
from autograder.judge.misconceptions import read
from tests.conftest import ROOT

NAMES = ("transformer_block", "language_model")
# What each page of the slides, knowledge point of the session and section of the walkthrough holds.
PLACES = {
    "slides": {
        2: "transformer block",
        3: "feed-forward",
        4: "residual, range of layer norm",
        5: "residual, stream, attention reads others, feed-forward one token",
        6: "heads move information",
        7: "z-score",
        8: "layer norm: mean, variance, eps",
        9: "key-value",
        15: "stream, layers, heads are added",
        16: "key-value",
        17: "positions apart",
        18: "division of labour",
        19: "stream of Tower, heads are added",
        20: "keys",
        21: "values, stream of Tower",
        22: "positions",
        23: "words and positions are added",
        24: "sines and cosines",
        25: "sines and cosines, positions 0 to 2, words and positions are added",
        26: "learned positions, longest sequence, random start",
        27: "distances, clipped, random start",
        28: "next word, last token, final layer",
        29: "language modelling head",
        30: "transpose of the embedding",
        31: "encoder",
    },
    "session": {
        1: "feed-forward listing: relu, dropout",
        2: "dependencies",
        3: "attention listing, softmax, sqrt, causal mask as an exercise",
        4: "heads, listing, concatenation",
        5: "block listing: dropout, pre-norm, post-norm, complexity",
    },
    "walkthrough": {
        "introduction": "no norm, dropout",
        "attention": "weights, hidden CLS and PAD, values, output",
        "feed_forward": "an activation function, dropout",
    },
}
# What none of the documents speaks of: only the handout does.
SILENT = {
    "temperature, top-k, top-p": r"temperature|top_[kp]\b|top-[kp]\b",
    "an end token, a window": r"\bend_id\b|end token",
    "loss and perplexity": r"\bperplexity\b|\bcross-entropy\b",
    "padding as an argument": r"\bpad_id\b",
    "GELU": r"(?i)\bgelu\b",
    "dtypes": r"\bdtypes?\b|float32|bfloat16",
    "devices": r"\bdevice\b|on the CPU",
    "odd widths": r"\bodd d_model\b",
    "the longest sequence for sines": r"\bmax_len \+ 1 raise\b",
    "weights and biases of norms": r"(?i)layernorm's state_dict|multiplies by the weight",
    "what happens in place": r"not modified|in place",
    "gradients through the code": r"\.detach",
}


def cited(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the place, the words and the source of every criterion and mistake."""
    assignment = load_assignment(ROOT, name)
    for component in assignment.totals:
        for key, mistake in read(assignment, component).items():
            yield f"{component}.{key}", mistake.explanation, mistake.source
    for folder in (assignment.public, assignment.secret):
        for file in sorted((folder / "tests").glob("test_*.py")):
            text = file.read_text("utf-8")
            constant = re.search(r'^SOURCE = "([^"]+)"', text, flags=re.MULTILINE)
            for part in re.split(r"^@pytest\.mark\.criterion", text, flags=re.MULTILINE)[1:]:
                written = re.search(r'source="([^"]+)"', part)
                title = re.search(r'^    """(.+?)(?:"""|$)', part, flags=re.MULTILINE)
                assert title and (written or constant), (file, part[:80])
                source = written.group(1) if written else constant.group(1)  # type: ignore[union-attr]
                yield f"{file.name}: {title.group(1)}", title.group(1), source


def places(source: str) -> Iterator[tuple[str, int | str]]:
    """Yield the pages, knowledge points and sections that a source names."""
    for part in source.split("; "):
        document, _, rest = part.partition(", ")
        if document == "walkthrough":
            sections = re.sub(r",? steps? \d( and \d)?", "", rest)
            yield from ((document, name) for name in re.split(r",? and |, ", sections))
            continue
        numbers = [int(number) for number in re.findall(r"\d+", rest)]
        if " to " in rest:
            numbers = list(range(numbers[0], numbers[-1] + 1))
        yield from ((document, number) for number in numbers)


@pytest.mark.parametrize("name", NAMES)
def test_every_cited_place_is_there(name: str) -> None:
    missing = [
        f"{where}: {source}"
        for where, _, source in cited(name)
        if source != "handout"
        for document, place in places(source)
        if place not in PLACES[document]
    ]
    assert missing == []


@pytest.mark.parametrize("name", NAMES)
def test_no_page_is_cited_for_what_no_page_holds(name: str) -> None:
    wrong = [
        f"{where}: {source} says nothing of {subject}"
        for where, words, source in cited(name)
        if source != "handout"
        for subject, pattern in SILENT.items()
        if re.search(pattern, words)
    ]
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_both_handouts_say_where_the_pages_are_silent(name: str) -> None:
    text = (ROOT / "assignments" / name / "README.md").read_text("utf-8")
    assert "**Where the pages are silent.**" in text
    assert "**Erratum.**" in text
