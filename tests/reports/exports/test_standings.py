"""How work stands, in every format: what never ran, each status, who has no mark or no file."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

import pytest

from autograder.reports.exports import FORMATS, export
from autograder.reports.shown import STATUS_WORDS, WHOLE
from autograder.results import SubmissionResult
from tests.reports.exports import read
from tests.reports.exports.made import (
    CLASS,
    NOTHING,
    OUTCOMES,
    component,
    context,
    criterion,
    fault,
    note,
    rejected,
    result,
    standing,
    written,
)


def of_class(name: str, *results: SubmissionResult) -> str:
    text = export(FORMATS[name], results, context(of_class=True)).text
    assert text is not None
    return text


def never_ran(hidden: bool = False) -> SubmissionResult:
    """Return a result with a criterion that passed and one that never ran."""
    unrun = criterion("late", 0, 3, hidden, passed=None).model_copy(update={"outcome": "not_run"})
    part = component([criterion("first", 1, 1), unrun], status="timeout", notes=["it hung"])
    return result({"norm": part})


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_what_never_ran_earns_nothing_and_is_no_success(name: str, hidden: bool) -> None:
    text = written(name, never_ran(hidden))
    score, most = read.marks(name, text)
    assert (score, most in (None, 4)) == (1, True)
    match name:
        case "junit":
            (suite,) = read.junit(text)
            assert (suite.tests, suite.failures, suite.skipped) == (2, 1, 0)
            passed, late = suite
            assert passed.is_passed
            (said,) = late.result
            words = ("failed", "not fulfilled; hidden checks say no more than that")
            assert (said.type, said.message) == (words if hidden else ("not_run", "not run"))
        case "markdown":
            assert "| ❌ | norm | 1 of 4 | 1 of 2 |" in text
            assert f"late holds{'' if hidden else ' (page 1)'}: 0 of 3" in read.markdown(text).plain
            assert "first holds" not in text
        case "github-annotations":
            (late, _) = read.annotations(text)
            assert late[0] == "error"
            assert late[1]["title"] == "norm: late holds"
            assert late[2].startswith("not fulfilled")
        case "gradescope":
            statuses = [test["status"] for test in read.checked(name, text)["tests"]]
            assert statuses == ["passed", "failed"]
        case "classroom50":
            found = [test["passed"] for test in read.checked(name, text)["tests"]]
            assert found == [True, False]
        case "json":
            late = json.loads(text)["components"]["norm"]["criteria"][1]
            assert (late["passed"], late["outcome"]) == (
                (False if hidden else None),
                None if hidden else "not_run",
            )


def test_that_a_hidden_criterion_never_ran_does_not_show_where_none_are_shown() -> None:
    for name in FORMATS:
        if name not in ("gradescope", "autolab", *CLASS):
            said = written(name, never_ran(True), NOTHING).replace('"late": false', "")
            assert "late" not in said
            assert read.marks(name, written(name, never_ran(True), NOTHING)) == (1, 1)
    seen = json.loads(written("json", never_ran(True), NOTHING))["components"]["norm"]
    assert (seen["status"], seen["notes"]) == ("graded", [])


@pytest.mark.parametrize("status", STATUS_WORDS)
@pytest.mark.parametrize("name", FORMATS)
def test_each_status_is_told_in_words_and_costs_its_points(name: str, status: str) -> None:
    words, whole, noted = STATUS_WORDS[status], status in WHOLE, note(status)
    right = component([criterion("b", 1, 1)])
    text = written(name, standing(status, [criterion("a", 0, 2)], right))
    score, most = read.marks(name, text)
    assert (score, most in (None, 3)) == (1, True)
    match name:
        case "junit":
            norm, head = read.junit(text)
            assert [
                {p.name: p.value for p in suite.properties()}["status"] for suite in (norm, head)
            ] == [status, "graded"]
            assert (norm.failures, head.failures) == (1, 0)
        case "markdown":
            page = read.markdown(text)
            assert words in page.code
            assert noted in page.code
            # One reason for all criteria is told once.
            assert ("a holds" in page.plain) != whole
            assert f"| {'⏳' if status == 'held' else '❌'} | norm |" in text
            assert "| ✅ | head |" in text
        case "github-annotations":
            first, last = read.annotations(text)
            assert last[0] == "notice"
            more = "\nnorm.py, line 9: it imports ctypes" if status == "held" else ""
            said = f"{words}\n{noted}{more}" if whole else "not fulfilled"
            assert first == ("warning" if status == "held" else "error", first[1], said)
            assert first[1] == {
                "title": "norm" if whole else "norm: a holds",
                **({} if status == "missing" else {"file": "norm.py"}),
                **({"line": "3"} if status == "held" else {}),
            }
        case "gradescope":
            output = read.checked(name, text)["output"].splitlines()
            assert output[:2] == [f"norm: {line}" for line in (words, noted) if line]
        case "autolab":
            assert read.checked(name, text)["scores"] == {"norm": 0, "head": 1}
        case "json":
            assert json.loads(text)["components"]["norm"]["status"] == status


def empty() -> SubmissionResult:
    """Return a result of a submission without any file of the assignment."""
    return result(
        {
            "norm": component([criterion("a", 0, 5)], status="missing"),
            "head": component([criterion("b", 0, 3)], status="missing"),
        },
        submission="s04",
    )


@pytest.mark.parametrize("name", FORMATS)
def test_who_handed_in_no_file_has_zero_points_and_each_component_says_why(name: str) -> None:
    text = written(name, empty())
    score, most = read.marks(name, text)
    assert (score, most in (None, 8)) == (0, True)
    if name in ("markdown", "github-annotations", "gradescope"):
        assert html.unescape(text).count("The file was not handed in.") == 2


def rows_of(name: str, *results: SubmissionResult) -> Sequence[Sequence[str]]:
    return read.rows(of_class(name, *results))[2 if name == "canvas" else 1 :]


@pytest.mark.parametrize("name", CLASS)
def test_a_gradebook_has_a_zero_for_who_is_rejected_and_no_row_for_a_fault(name: str) -> None:
    place = {"canvas": (3, 5), "moodle": (0, 1), "nbgrader": (3, 9)}[name]
    rows = rows_of(name, result(), rejected(), fault(), empty())
    marks = [tuple(row[n] for n in place) for row in rows]
    assert marks == [("s01", "4.75"), ("s02", "0"), ("s04", "0")]


def test_a_table_of_a_class_says_who_stands_how() -> None:
    lines = html.unescape(of_class("markdown", result(), rejected(), fault(), empty())).splitlines()
    rows = [line.split(" | ", 1)[1] for line in lines if line.startswith("| <code>s0")]
    assert rows == [
        "4.75 of 8 points |  |",
        "0 of 8 points | <code>s02.zip is a damaged archive; hand it in again</code> |",
        "no mark | <code>It could not be graded; your instructor has been told.</code> |",
        "0 of 8 points | empty |",
    ]


def test_a_suite_says_that_its_submission_was_rejected_and_a_fault_has_no_points() -> None:
    (bad,) = read.junit(written("junit", rejected()))
    properties = {p.name: p.value for p in bad.properties()}
    assert properties == {"score": "0", "max_score": "8", "status": "rejected"}
    assert (bad.tests, bad.failures, bad.errors) == (1, 1, 0)


def test_what_is_withheld_is_said_where_points_are_told() -> None:
    words = "There are hidden checks, too"
    (suite, _) = read.junit(written("junit", result(), NOTHING))
    assert {p.name: p.value for p in suite.properties()}["withheld"].startswith(words)
    assert words in read.checked("gradescope", written("gradescope", result(), NOTHING))["output"]
    tests = read.checked("classroom50", written("classroom50", result(), NOTHING))["tests"]
    assert all(test["withheld"].startswith(words) for test in tests)
    last = read.annotations(written("github-annotations", result(), NOTHING))[-1][2]
    assert last.startswith(f"3.25 of 4.5 points\n{words}")
    tests = read.checked("classroom50", written("classroom50", result()))["tests"]
    assert not any("withheld" in test for test in tests)


def test_how_many_cases_pass_is_said_of_a_hidden_criterion_that_is_lost() -> None:
    def cases(hidden: bool, passed: int) -> SubmissionResult:
        one = criterion("a", passed, 3, hidden, cases=3, passed_cases=passed, passed=passed == 3)
        return result({"norm": component([one])})

    def said(found: SubmissionResult) -> str:
        return str(read.checked("gradescope", written("gradescope", found))["tests"][0]["output"])

    assert said(cases(True, 2)).startswith("2 of 3 cases pass\n")
    # Of a public one its facts say so.
    assert said(cases(False, 2)) == ""
    assert said(cases(True, 3)) == ""


def test_what_cost_most_is_annotated_first() -> None:
    """GitHub shows ten of a step."""
    lost = [criterion(f"c{n}", 1, 1 + n) for n in (1, 3, 2)]
    found = read.annotations(written("github-annotations", result({"norm": component(lost)})))
    assert [about["title"] for _, about, _ in found[:-1]] == [
        f"norm: c{n} holds" for n in (3, 2, 1)
    ]


def test_a_runner_may_say_the_same_by_other_names() -> None:
    environment = {
        "CLASSROOM": "cs1",
        "ASSIGNMENT": "norm",
        "OWNER": "team-a",
        "USERNAME": "s01",
        "SUBMISSION_TAG": "submit/1",
        "COMMIT_URL": "https://example.org/commit/1",
        "RELEASE_URL": "https://example.org/release/1",
        "REVIEW_URL": "https://example.org/review/1",
        "MODE": "team",
    }
    found = read.checked("classroom50", written("classroom50", result(), environment=environment))
    assert (found["owner"], found["assignment_type"]) == ("team-a", "team")
    assert found["review"] == "https://example.org/review/1"
    more = {**environment, "ASSIGNMENT_TYPE": "group"}
    found = read.checked("classroom50", written("classroom50", result(), environment=more))
    assert found["assignment_type"] == "group"


def test_details_are_folded_where_something_never_ran_or_is_noted() -> None:
    unrun = criterion("late", 0, 3, passed=None).model_copy(update={"outcome": "not_run"})
    for part, words in (
        (component([unrun]), "late holds"),
        (component([criterion("a", 1, 1)], notes=["NOTE"]), "NOTE"),
    ):
        page = read.markdown(written("markdown", result({"norm": part})))
        assert "details" in page.tags
        assert words in page.plain + page.code
    fine = read.markdown(written("markdown", result({"norm": component([criterion("a", 1, 1)])})))
    assert "details" not in fine.tags


def test_a_public_criterion_that_never_ran_keeps_its_components_status() -> None:
    unrun = criterion("late", 0, 3, passed=None).model_copy(update={"outcome": "not_run"})
    part = component([unrun, criterion("b", 1, 1, True)], status="timeout", notes=["it hung"])
    seen = json.loads(written("json", result({"norm": part}), NOTHING))["components"]["norm"]
    assert (seen["status"], seen["notes"]) == ("timeout", ["it hung"])


def test_tests_of_gradescope_are_numbered_by_component_and_criterion() -> None:
    for setting in (OUTCOMES, NOTHING):
        tests = read.checked("gradescope", written("gradescope", result(), setting))["tests"]
        assert [test["number"] for test in tests] == ["1.1", "1.2", "1.3", "2.1", "2.2"]


def test_a_line_that_no_file_has_is_no_place() -> None:
    for number, place in (
        ("9999999", {"line": "9999999"}),
        ("10000000", {}),
        ("0", {}),
        ("07", {}),
    ):
        lost = criterion("a", 0, 1, facts=[f"raised (norm.py, line {number})"])
        found = read.annotations(written("github-annotations", result({"norm": component([lost])})))
        about = {"file": "norm.py", "title": "norm: a holds"}
        assert found[0][1] == {**about, **place}


@pytest.mark.parametrize("name", ["junit", "gradescope", "classroom50", "json", "moodle"])
def test_of_what_is_held_for_review_the_first_place_is_told_with_every_criterion(name: str) -> None:
    lost = [criterion("a", 0, 2, passed=None), criterion("b", 0, 1, True, passed=None)]
    text = html.unescape(written(name, standing("held", lost)))
    words = f"held for review: {note('held')}"
    match name:
        case "junit":
            (suite,) = read.junit(text)
            assert [case.result[0].message for case in suite] == [f"{words} (and 1 more)"] * 2
        case "gradescope":
            tests = read.checked(name, text)["tests"]
            assert [test["output"] for test in tests] == [f"{words} (and 1 more)"] * 2
        case "classroom50":
            tests = read.checked(name, text)["tests"]
            assert [test["message"] for test in tests] == [f"{words} (and 1 more)"] * 2
        case "json":
            part = json.loads(text)["components"]["norm"]
            assert len(part["notes"]) == 2
            assert [c["facts"] for c in part["criteria"]] == [[f"{words} (and 1 more)"]] * 2
        case "moodle":
            said = f"norm: held for review: <code>{note('held')}</code>"
            assert read.rows(text)[1][-1] == said


def test_where_nothing_hidden_is_shown_what_is_held_is_all_the_same() -> None:
    lost = [criterion("a", 0, 2, passed=None), criterion("SECRET", 0, 1, True, passed=None)]
    part = json.loads(written("json", standing("held", lost), NOTHING))["components"]["norm"]
    assert (part["status"], part["max_score"], len(part["notes"])) == ("held", 2, 2)
    assert "SECRET" not in json.dumps(part)
