"""One submission in a terminal: what its student may see, as text of a length that is read."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from autograder.reports.score_table import print_single
from autograder.reports.shown import STATUS_WORDS, WHOLE, shown
from autograder.results import SubmissionResult
from autograder.settings import Feedback
from tests.reports.exports.made import (
    NOTHING,
    NOW,
    OUTCOMES,
    component,
    criterion,
    fault,
    marked,
    note,
    rejected,
    result,
    standing,
)


def printed(found: SubmissionResult, setting: Feedback = OUTCOMES) -> list[str]:
    out = io.StringIO()
    print_single(Console(file=out, soft_wrap=True, width=80), shown(found, setting, NOW))
    return out.getvalue().splitlines()


def test_all_points_and_what_is_behind_each_that_is_lost() -> None:
    assert printed(result()) == [
        "norm: 2.25 of 5.5",
        "  you forgot eps",
        "  0.25 of 1.5: values holds",
        "    raised ValueError (norm.py, line 7): no",
        "    in norm(1)",
        "    hint: look again",
        "    as above",
        "  1 of 3: random holds",
        "    not fulfilled; hidden checks say no more than that",
        "head: 2.5 of 2.5",
        "s01: 4.75 of 8 points",
    ]


def test_what_is_withheld_is_said_before_the_points_that_are_shown() -> None:
    lines = printed(result(), NOTHING)
    assert lines[-2].startswith("There are hidden checks, too")
    assert lines[-1] == "s01: 3.25 of 4.5 points"
    whole = "\n".join(printed(marked()) + printed(marked(), NOTHING))
    assert "SECRET" not in whole


@pytest.mark.parametrize("status", STATUS_WORDS)
def test_each_status_is_said_once_and_instead_of_criteria_where_it_is_of_all(status: str) -> None:
    said = [f"  {words}" for words in (STATUS_WORDS[status], note(status)) if words]
    said += ["  norm.py, line 9: it imports ctypes"] if status == "held" else []
    lost = [] if status in WHOLE else ["  0 of 2: a holds"]
    assert printed(standing(status, [criterion("a", 0, 2)])) == [
        "norm: 0 of 2",
        *said,
        *lost,
        "s01: 0 of 2 points",
    ]


def test_what_never_ran_is_a_lost_criterion() -> None:
    unrun = criterion("a", 0, 2, passed=None).model_copy(update={"outcome": "not_run"})
    part = component([unrun, criterion("b", 1, 1)], status="timeout")
    assert printed(result({"norm": part}))[2:] == ["  0 of 2: a holds", "s01: 1 of 3 points"]


def test_numbers_of_four_digits_are_whole() -> None:
    part = component([criterion("a", 1234.5, 2000.5)])
    assert printed(result({"norm": part})) == [
        "norm: 1234.5 of 2000.5",
        "  1234.5 of 2000.5: a holds",
        "s01: 1234.5 of 2000.5 points",
    ]


def test_without_a_mark_there_is_a_reason() -> None:
    assert printed(rejected()) == ["s02: rejected: s02.zip is a damaged archive; hand it in again"]
    assert printed(fault()) == [
        "s03: error: It could not be graded; your instructor has been told."
    ]


def test_texts_are_text() -> None:
    hostile = criterion("a", 0, 1, title="[red]x[/red]\x1b[2J", facts=["[b]" + "y" * 5000])
    lines = printed(result({"[i]": component([hostile])}, submission="[s]"))
    assert lines[:2] == ["[i]: 0 of 1", "  0 of 1: [red]x[/red] [2J"]
    assert lines[2].startswith("    [b]yyy")
    assert len(lines[2]) == 4 + 1000
    assert lines[3] == "[s]: 0 of 1 points"
