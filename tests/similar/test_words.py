"""Words and fingerprints of a text: what a disguise changes, and what it cannot."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.similar.prints import K, prints_of
from autograder.similar.scanning import scan
from autograder.similar.words import words_of
from tests.similar.copies import DISGUISES

PLAIN = """\
import torch.nn.functional as F
from torch import nn


def weigh(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return F.softmax(scores, dim=-1)


class Layer(nn.Module):
    def __init__(self, size, bias=True):
        super().__init__()
        self.inner = nn.Linear(size, size, bias=bias)
        self.scale = size**-0.5

    def forward(self, x):
        kept = [self.inner(row) for row in x]
        return weigh(kept[0] @ kept[-1].mT * self.scale)
"""


def said(text: str) -> list[int]:
    """Return the fingerprints of a text, in no order."""
    return sorted(prints_of(words_of(text)).tolist())


@pytest.mark.parametrize(
    "other",
    [
        re.sub(r"\bscores\b", "s", re.sub(r"\bmask\b", "m", PLAIN)),
        PLAIN.replace("self", "this").replace("inner", "layer_of_mine"),
        PLAIN.replace("    ", "\t"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("dim=-1)", "dim=-1,)  # the last"),
        PLAIN.replace('"-inf"', "'other'"),
        PLAIN.replace(
            "scores, mask=None):", "scores: Tensor, mask: Tensor | None = None) -> Tensor:"
        ),
        PLAIN.replace("def forward(self, x):", 'def forward(self, x):\n        """Go."""'),
        PLAIN.replace("kept = [", "kept: list[Tensor] = [").replace("kept[0]", "(kept)[0]"),
        PLAIN.replace(
            "import torch.nn.functional as F", "import torch.nn.functional as fun"
        ).replace("F.softmax", "fun.softmax"),
        PLAIN.replace("-0.5", "-.50"),
    ],
    ids=lambda text: None,
)
def test_a_disguise_says_the_same(other: str) -> None:
    assert other != PLAIN
    assert said(other) == said(PLAIN)


@pytest.mark.parametrize(
    "old, new",
    [
        ("F.softmax", "F.log_softmax"),
        ("dim=-1", "dim=-2"),
        ("scores, dim", "mask, dim"),
        ("kept[0] @ kept[-1]", "kept[0] * kept[-1]"),
        ("is not None", "is None"),
    ],
)
def test_other_work_says_something_else(old: str, new: str) -> None:
    assert said(PLAIN.replace(old, new)) != said(PLAIN)


def test_a_builtin_is_itself_where_its_author_did_not_assign_it() -> None:
    text = "def f(x):\n    sum = x.one(1) + max(x.two(2))\n    return sum * sum - sum / 2\n"
    assert said(text.replace("sum", "total")) == said(text)
    assert said(text.replace("max", "min")) != said(text)


def test_a_block_of_match_is_no_annotation() -> None:
    text = (
        "def f(x):\n    match x:\n        case 'a': return x + 1\n        case [a, b]: return a\n"
    )
    words = words_of(text)
    assert text[words.starts[-1] : words.ends[-1]] == "a"


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_has_words_that_stand_in_it(text: str) -> None:
    words = words_of(text)
    places = list(zip(words.starts.tolist(), words.ends.tolist(), strict=True))
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)
    assert len(prints_of(words)) == max(0, len(places) - K + 1)


@given(st.text("'\"\\\n#([{)]} fr0x.=,:;a", max_size=60))
def test_tokens_follow_one_another(text: str) -> None:
    end = 0
    for token in scan(text):
        assert end <= token.start < token.end
        assert text[token.start : token.end] == token.text
        end = token.end


@pytest.mark.parametrize("disguise", DISGUISES)
def test_every_disguise_of_a_copy_leaves_python(disguise: object) -> None:
    assert callable(disguise)
    compile(disguise(PLAIN), "copy", "exec")
    assert disguise(PLAIN) != PLAIN


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "\n",
            " \n",
            "(",
            "[",
            "'",
            '"',
            '"""\n',
            "\\",
            "\\\n",
            "\0",
            "lambda x:",
            "def f(a:b=",
            ";",
        ),
        *("import a,", "f'{", "1e-", "x.", "@", "a[b]:", "# \n", "\ufdfa ", '"\\'),
    ],
    ids=ascii,
)
def test_text_that_is_made_to_take_long_does_not(piece: str) -> None:
    words = words_of(piece * (200_000 // len(piece)))
    assert len(words.values) <= 200_000


def test_numbers_are_the_same_in_every_process() -> None:
    assert said("a = b @ c.d + e - -f") == [4105378607679424796]
