"""Caps and escapes of every format, each by itself: what a student wrote is cut, and is text."""

from __future__ import annotations

import html
import json

import pytest

from autograder.errors import UsageError
from autograder.reports.exports import FORMATS, export
from autograder.reports.exports.objects import dumped
from autograder.reports.roster import Roster, read_roster
from autograder.reports.shown import shown
from autograder.results import SubmissionResult
from tests.reports.exports import read
from tests.reports.exports.made import (
    NOW,
    OUTCOMES,
    component,
    context,
    criterion,
    fault,
    rejected,
    result,
    written,
)

LINES = [f"line {n} {'x' * 2000}" for n in range(50)]


def told(status: str = "graded", **more: object) -> SubmissionResult:
    """Return a result of one lost criterion."""
    return result({"norm": component([criterion("a", 0, 1, **more)], status=status)})


def test_of_a_criterion_so_many_lines_are_shown_and_so_much_of_each() -> None:
    part = component(
        [criterion("a", 0, 1, facts=LINES, hints=LINES)], notes=LINES, status="crashed"
    )
    found = result({"n" * 400: part}, submission="s" * 400)
    seen = shown(found, OUTCOMES, NOW)
    ((name, norm),) = seen.components.items()
    for lines in (norm.notes, norm.criteria[0].facts, norm.criteria[0].hints):
        assert len(lines) == 40
        assert {len(line) for line in lines} == {1000}
    assert (len(name), len(seen.submission)) == (300, 300)
    # A text of many lines is as many.
    (lines,) = (
        c.facts for c in shown(told(facts=["a\n" * 100]), OUTCOMES, NOW).components["norm"].criteria
    )
    assert lines == ["a"] * 40


def test_annotations_have_twelve_lines_of_three_hundred() -> None:
    found = told(facts=LINES, title="t" * 500)
    about, said = read.annotations(written("github-annotations", found))[0][1:]
    assert [len(line) for line in said.split("\n")] == [300] * 12
    assert len(about["title"]) == 300


def test_annotations_escape_what_ends_a_property_or_a_line() -> None:
    found = told(title="50%: a,b::c", facts=["50%25\r::error::x"])
    text = written("github-annotations", found)
    assert text.startswith(
        "::error file=norm.py,title=norm%3A 50%25%3A a%2Cb%3A%3Cc::".replace("%3C", "%3A")
    )
    assert "::50%2525%0A::error::x\n" in text


def test_markdown_has_twelve_lines_of_four_hundred() -> None:
    text = written("markdown", told(facts=LINES))
    assert text.count("  - <code>") == 12
    assert {len(line) for line in text.splitlines() if line.startswith("  - <code>")} == {
        len("  - <code></code>") + 400
    }
    whole = result({"norm": component([criterion("a", 0, 1)], status="missing", notes=LINES)})
    assert written("markdown", whole).count("- <code>") == 12


@pytest.mark.parametrize("sign", [*"\\`*_{}[]<>()#|~@:&$!^\"'+="])
def test_markdown_leaves_no_sign_that_it_acts_on(sign: str) -> None:
    text = written("markdown", told(title=f"a{sign}b", facts=[f"c{sign}d"], source=f"e{sign}f"))
    for before, after in ("ab", "cd", "ef"):
        assert f"{before}{sign}{after}" not in text
        assert f"{before}&#{ord(sign)};{after}" in text


def test_a_class_in_markdown_cuts_names_and_gives_up_where_rows_alone_are_too_many() -> None:
    def many(*results: SubmissionResult) -> str:
        text = export(FORMATS["markdown"], results, context(of_class=True)).text
        assert text is not None
        return text

    long = many(result(submission="s" * 500), rejected())
    assert f"| <code>{'s' * 99}…</code> | 4.75" in long
    message = rejected().model_copy(update={"message": "<" * 400})
    assert many(*[message] * 500) == (
        "### Norms\n\n500 submissions are too many to be shown here.\n"
    )
    assert many() == "### Norms\n\n| submission | points | |\n|---|---:|---|\n"


def test_junit_cuts_names_and_has_nothing_that_a_log_would_run() -> None:
    two = [result(submission="s" * 500), rejected()]
    text = export(FORMATS["junit"], two, context(of_class=True)).text
    assert text is not None
    assert next(iter(read.junit(text))).name == f"{'s' * 99}….norm"
    said = written("junit", told(facts=["::add-mask::x", "##[error]y"]))
    assert "##[" not in said
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]
    assert ">::" not in said
    ((case,),) = read.junit(said)
    assert case.result[0].text == "::add-mask::x\n##[error]y"


def test_json_is_ascii_and_has_nothing_that_a_log_would_run() -> None:
    text = dumped({"é": "##[error]\u2028"})
    assert text.isascii()
    assert "##[" not in text
    assert json.loads(text) == {"é": "##[error]\u2028"}


def feedback(*causes: str) -> str:
    parts = {"norm": component([criterion("a", 0, 1)], causes=list(causes))}
    return read.rows(written("moodle", result(parts)))[1][2]


def test_moodle_is_told_so_much_in_html_and_that_there_is_more() -> None:
    assert feedback("a<b>&\"c'") == html.escape("norm: a<b>&\"c'")
    short = [f"{n:02}{'x' * 90}" for n in range(50)]
    text = feedback(*short)
    assert text.endswith("<br>…")
    assert 1900 < len(text) <= 2000 + len("<br>…")
    assert feedback(*short[:10]).endswith("x")


def test_what_is_left_out_is_named_in_a_line() -> None:
    long = fault().model_copy(update={"submission": "s\n" * 200})
    (said,) = export(FORMATS["canvas"], [long], context(of_class=True)).left_out
    assert said.startswith("s s s")
    assert len(said) == 80 + len(": the grader failed on it, so it has no mark; grade it again")


def test_a_roster_names_five_and_how_many_more() -> None:
    found = Roster("people.csv", ["id"], [["s01"]])
    ids = [f"x{n}" for n in range(8)]
    with pytest.raises(UsageError, match=r"'x0', 'x1', 'x2', 'x3', 'x4' and 3 more are in no row"):
        found.matched(ids)
    with pytest.raises(UsageError, match=r"'x0', 'x1', 'x2', 'x3', 'x4' are in no row"):
        found.matched(ids[:5])


def test_ids_of_a_roster_stand_between_spaces_and_an_empty_cell_is_nobody(tmp_path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("\ufeffId\tEMAIL address\ts,t;u\n s01 \t\tx\n s02\t\ty\n", encoding="utf-8")
    found = read_roster(path)
    assert found.header == ["Id", "EMAIL address", "s,t;u"]
    assert [row[2] for row in found.matched(["s01", "s02 "]).values()] == ["x", "y"]
    with pytest.raises(UsageError, match="'' is in no row"):
        found.matched([""])


def test_moodle_is_given_no_more_of_a_roster_than_names_a_person(tmp_path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("First name,ID number,Last login,Grade\nOne,s01,today,7\n")
    header, row = read.rows(written("moodle", result(), roster=read_roster(path)))
    assert header[:-1] == ["First name", "ID number", "grade"]
    assert row[:-1] == ["One", "s01", "4.75"]


def test_moodle_and_nbgrader_write_an_id_that_is_no_formula() -> None:
    risky = result(submission="=cmd()")
    assert read.rows(written("moodle", risky))[1][0] == "'=cmd()"
    assert read.rows(written("nbgrader", risky))[1][3] == "'=cmd()"
    assert read.rows(written("nbgrader", risky))[1][8] == "0"


def test_nbgrader_finds_names_under_what_other_platforms_call_them() -> None:
    header = ["id", "First name", "Surname", "Email address"]
    people = Roster("people.csv", header, [["s01", "A", "B", "c@d"]])
    row = read.rows(written("nbgrader", result(), roster=people))[1]
    assert row[3:7] == ["s01", "B", "A", "c@d"]
