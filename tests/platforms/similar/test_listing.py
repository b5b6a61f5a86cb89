"""Pairs as a person reads them: what is cut, what is rounded, and that ids are text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assignment import Assignment, load_assignment
from autograder.platforms.similar.comparing import Findings, Pair, Part, Work, prints_of
from autograder.platforms.similar.listing import print_pairs, where, write
from tests.tiny import write_tiny


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path / "project"), "norm")


def work(name: str) -> Work:
    prints = prints_of("x = 1\n")
    return Work(name, {"layer_norm": prints}, prints.hashes)


def pair(first: str, second: str, *parts: Part, share: float = 0.5, striking: int = 1) -> Pair:
    parts = parts or (Part("layer_norm", 0.8765, 99),)
    return Pair(work(first), work(second), Part("", share, 1234), parts, striking)


def findings(assignment: Assignment, pairs: list[Pair], notes: Sequence[str] = ()) -> Findings:
    return Findings(assignment, 75.0, 60, pairs, list(notes))


def printed(found: Findings, width: int = 80) -> str:
    out = io.StringIO()
    print_pairs(Console(file=out, width=width, soft_wrap=True), found)
    return out.getvalue()


def many(number: int) -> list[Pair]:
    every = [(a, b) for a in range(60) for b in range(a + 1, 60)]
    return [
        pair(f"s{a:02}", f"s{b:02}", share=0.9 - n / 10_000)
        for n, (a, b) in enumerate(every[:number])
    ]


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.startswith((" s", "s"))]


def test_forty_pairs_are_printed_and_all_are_in_the_file(
    assignment: Assignment, tmp_path: Path
) -> None:
    found = findings(assignment, many(42))
    text = printed(found)
    assert len([row for row in rows(text) if "layer_norm" in row]) == 40
    assert "and 2 pairs more\n" in text
    assert "42 similar pairs among 60 submissions, from 75 % of a component on\n" in text
    assert "pairs more" not in printed(findings(assignment, many(40)))
    table, page = write(found, tmp_path / "out")
    assert len(table.read_text().splitlines()) == 1 + 42
    whole = page.read_text()
    assert whole.count("<details") == 30
    assert "Side by side are the first 30; similar.csv has all 42." in whole
    assert "Side by side" not in _page(findings(assignment, many(30)), tmp_path / "few")


def _page(found: Findings, out: Path) -> str:
    return write(found, out)[1].read_text()


def test_one_pair_and_none_are_said_in_their_own_words(assignment: Assignment) -> None:
    assert printed(findings(assignment, [pair("s00", "s01")])).endswith(
        "1 similar pair among 60 submissions, from 75 % of a component on\n"
    )
    assert printed(findings(assignment, [])) == (
        "no similar pair among 60 submissions, from 75 % of a component on\n"
    )


def test_shares_are_rounded_and_sizes_are_whole(assignment: Assignment, tmp_path: Path) -> None:
    parts = (Part("layer_norm", 0.8765, 99), Part("helper.py", 0.00049, 7))
    found = findings(assignment, [pair("s00", "s01", *parts, share=0.33333)])
    assert ["s00", "s01", "88", "%", "33", "%", "1234", "layer_norm", "88", "%"] in rows(
        printed(found)
    )
    with write(found, tmp_path / "out")[0].open(newline="") as file:
        header, row = csv.reader(file)
    assert header == [
        "first",
        "second",
        "most",
        "all",
        "shared",
        "layer_norm",
        "other files",
        "given text",
    ]
    assert row == ["s00", "s01", "87.6", "33.3", "1234", "87.6", "helper.py", ""]


@pytest.mark.parametrize(
    "striking, most, words",
    [
        (0, 20, "small parts of 3"),
        (1, 20, "a 90 %"),
        (3, 20, "a 90 %, b 80 %, c 70 %"),
        (3, 2, "a 90 %, b 80 % and 1 more"),
    ],
)
def test_where_a_pair_is_alike_names_some(striking: int, most: int, words: str) -> None:
    parts = (Part("a", 0.9, 90), Part("b", 0.8, 80), Part("c", 0.7, 70))
    found = pair("s00", "s01", *parts, striking=striking)
    assert where(found, most) == words
    assert found.most == (0.9 if striking else 0.5)


def test_notes_are_lines_that_are_text(assignment: Assignment) -> None:
    found = findings(assignment, [], ["not compared: [b]s98: it is a \x1b[31mbomb\n", "[red]x"])
    lines = printed(found, 4000).splitlines()
    assert lines[:2] == ["not compared: [b]s98: it is a [31mbomb", "[red]x"]


def test_ids_are_cut_and_are_no_formula_and_no_markup(
    assignment: Assignment, tmp_path: Path
) -> None:
    found = findings(assignment, [pair("=cmd()[red]", "<b>" + "x" * 100)])
    assert "=cmd()[red]" in printed(found, 200)
    table, page = write(found, tmp_path / "out")
    assert table.read_text().splitlines()[1].startswith("'=cmd()[red],<b>xxx")
    assert f"&lt;b&gt;{'x' * 56}…" in page.read_text()
    assert "<b>x" not in page.read_text()
