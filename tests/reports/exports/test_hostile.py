"""A student's text is text in every format, whatever it says."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.grading.tables import raw
from autograder.reports.exports import FORMATS
from autograder.results import Held, SubmissionResult
from tests.reports.exports import read
from tests.reports.exports.made import (
    CLASS,
    NOTHING,
    OUTCOMES,
    component,
    criterion,
    result,
    written,
)

PIECES = [
    *("<script>alert(1)</script>", "<!-- ", "]]>", "&lt;", "&#60;", "<img src=x onerror=y>"),
    *("</details>", "</code>", "<![CDATA[", "<?php ", "\x00", "\x0b", "\x1b[31m", "\ufffe"),
    *("| a | b |", "\n|---|---|\n", "[x](javascript:1)", "![x](//evil.example/x)", "```", "~~~"),
    *("# head", "* item", "\n---\n", "<https://evil.example>", "https://evil.example", "$x$"),
    *("www.evil.example", "@everyone", "@org/team", "#12", "a@b.example", ":tada:", "\\", "`"),
    *("::error::x", "\n::add-mask::x", "%0A::stop-commands::x", "##[add-mask]x", "\r\n"),
    *("=1+1", "@SUM(1)", "+1", "-1", "\t=1", '"', ",", ";", "'", "\u202e", "\u2028", "\x85"),
    *("(norm.py, line 9)", "(../../x.py, line 1)", "(norm.py, line 99999999999999)", "é", "漢"),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=8), max_size=6).map("".join)


def hostile(text: str, rejected: bool) -> SubmissionResult:
    if rejected:
        return result({}, status="rejected", score=0.0, max_score=3.0, message=text)
    parts = component(
        [
            criterion("a", 0, 1, facts=[text, text], hints=[text], causes=[text], title=text),
            criterion("b", 0, 2, True, causes=[text], title=text),
        ],
        notes=[text],
        causes=[text],
    )
    held = component([criterion("c", 0, 1)], status="forbidden", notes=[text])
    place = Held(component="head", file=text, line=1, what=text)
    return result({"norm": parts, "head": held}, submission=f"s{text}", review=[place])


@given(text=TEXTS, rejected=st.booleans(), nothing=st.booleans())
@example(text="\n::add-mask::x##[add-mask]x", rejected=False, nothing=False)
@example(text="x\n\n<b>|@y", rejected=True, nothing=False)
def test_a_text_is_nothing_but_text(text: str, rejected: bool, nothing: bool) -> None:
    found = hostile(text, rejected)
    made = {n: written(n, found, NOTHING if nothing else OUTCOMES) for n in FORMATS}
    criteria = 0 if rejected else 1 if nothing else 2
    suite = next(iter(read.junit(made["junit"])))
    assert len(list(suite)) == (criteria or 1)
    page = read.markdown(made["markdown"])
    # Titles are the author's.
    assert not rejected or "@" not in page.plain
    held = 0 if rejected else 1
    assert len(read.annotations(made["github-annotations"])) == (criteria or 1) + held + 1
    for _, about, message in read.annotations(made["github-annotations"]):
        assert about.get("file", "norm.py") in ("norm.py", "head.py")
        assert len(message) < 10_000
    for name in ("gradescope", "classroom50", "autolab", "json"):
        assert read.checked(name, made[name])
    for name in CLASS:
        rows = read.rows(made[name])
        assert len(rows) == (3 if name == "canvas" else 2)
        assert found.submission in [raw(cell) for cell in rows[-1]]
    for name in set(FORMATS) - {*CLASS, "github-annotations"}:
        assert "##[" not in made[name]
        assert not any(line.lstrip().startswith("::") for line in made[name].splitlines()), name


@pytest.mark.parametrize("name", sorted(set(FORMATS) - set(CLASS)))
def test_a_text_without_an_end_is_cut(name: str) -> None:
    assert len(written(name, hostile("x" * 10**6, False))) < 50_000
    assert len(written(name, hostile("x\n" * 10**6, False))) < 700_000


def test_nobody_is_mentioned_and_nothing_is_linked_outside_of_code() -> None:
    said = "@octocat see www.evil.example or https://evil.example, #12"
    made = result({}, status="rejected", score=0.0, max_score=3.0, message=said)
    page = read.markdown(written("markdown", made))
    assert said in page.code
    assert "octocat" not in page.plain


@pytest.mark.parametrize("words", ["=1 & @x", "|a| <b>", "a*b*_c_ [d](e)", "50%25 :, `x` $y$ é"])
def test_words_are_read_back_as_they_were(words: str) -> None:
    made = result({"norm": component([criterion("a", 0, 1, facts=[words])])})
    assert words in read.markdown(written("markdown", made)).code
    assert words in read.annotations(written("github-annotations", made))[0][2]
    assert next(iter(next(iter(read.junit(written("junit", made)))))).result[0].message == words
    assert words in read.checked("gradescope", written("gradescope", made))["tests"][0]["output"]
