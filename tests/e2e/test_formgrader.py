"""Marking in nbgrader's formgrader, in a real browser, and what comes back to the students."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT, lines_of_code
from tests.e2e.conftest import NO_PLAYWRIGHT, Autograded, Marked
from tests.e2e.course import ASSIGNMENT
from tests.e2e.gradebook import Gradebook, read
from tests.e2e.submissions import ANSWER, HAND_IN

if TYPE_CHECKING:
    from tests.e2e.browser import Browser
    from tests.e2e.formgrader import Formgrader

expect = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT).expect


def test_the_assignment_is_listed_with_its_submissions_and_their_scores(
    formgrader: Formgrader, autograded: Autograded
) -> None:
    row = formgrader.assignment()
    expect(row.locator(".num-submissions")).to_have_text("3")
    formgrader.picture("assignments")
    rows = formgrader.submissions()
    assert rows.keys() == set(HAND_IN)
    most = sum(points for _, _, points, _ in autograded.before.cells)
    totals = read(autograded.course.url).totals
    for student, row in rows.items():
        score = totals[student]
        expect(row.locator(".score")).to_have_text(f"{score:g} / {most:g}")
    formgrader.picture("submissions")


def test_a_grade_cell_shows_its_score_and_a_message_for_every_criterion(
    formgrader: Formgrader, expected: dict[str, Any]
) -> None:
    formgrader.submission("s02")
    layer_norm = expected["s02"]["components"]["layer_norm"]
    expect(formgrader.score("layer_norm")).to_have_attribute(
        "placeholder", f"{layer_norm['score']:g}"
    )
    said = formgrader.cell("layer_norm").inner_text()
    for criterion in layer_norm["criteria"]:
        assert criterion["title"] in said
    assert "you divided the squared deviations by n - 1" in said
    formgrader.cell("layer_norm").scroll_into_view_if_needed()
    formgrader.picture("feedback-s02")


def test_a_mark_and_a_comment_by_hand_are_in_the_gradebook(
    marked: Marked, autograded: Autograded
) -> None:
    mark = marked.gradebook.of("s02")[marked.question]
    assert (mark.manual, mark.score, mark.waits) == (marked.points, marked.points, False)
    assert mark.comment == marked.comment
    total = autograded.after.totals["s02"] + marked.points
    assert marked.gradebook.totals == {**autograded.after.totals, "s02": total}


def test_the_button_grades_one_submission_and_leaves_the_mark_by_hand(
    regraded: Gradebook, marked: Marked, autograded: Autograded, expected: dict[str, Any]
) -> None:
    mark = regraded.of("s02")[marked.question]
    assert (mark.manual, mark.comment) == (marked.points, marked.comment)
    assert regraded.totals == marked.gradebook.totals
    scores = {n: c["score"] for n, c in expected["s02"]["components"].items()}
    assert {name: regraded.of("s02")[name].auto for name in scores} == scores


def test_the_export_is_the_result_files_and_the_mark_by_hand(
    regraded: Gradebook, marked: Marked, autograded: Autograded, expected: dict[str, Any]
) -> None:
    autograded.course.nbgrader("export", "--to", "grades.csv")
    with (autograded.course.folder / "grades.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    by_hand = {"s02": marked.points}
    most = sum(points for _, _, points, _ in autograded.before.cells)
    for student in HAND_IN:
        total = expected[student]["score"] + by_hand.get(student, 0)
        assert float(rows[student]["score"]) == total
        assert float(rows[student]["max_score"]) == most


@pytest.mark.parametrize("student", list(HAND_IN))
def test_feedback_says_why_and_holds_nothing_secret(
    student: str,
    feedback: dict[str, Path],
    marked: Marked,
    expected: dict[str, Any],
    browser: Browser,
) -> None:
    html = feedback[student].read_text()
    # A script in an answer must not run here either.
    browser.page.goto(feedback[student].as_uri())
    browser.picture(f"fetched-{student}", whole=True)
    assert browser.page.title() == "workbook"
    assert browser.page.evaluate("window.taken === undefined")
    said = " ".join(browser.page.locator("body").inner_text().split())
    for component in expected[student]["components"].values():
        assert f"{component['score']:g} of {component['max_score']:g} points" in said
        if component["status"] != "graded":
            continue
        for criterion in component["criteria"]:
            assert " ".join(criterion["title"].split()) in said
            for line in criterion["message"].splitlines()[:1]:
                assert " ".join(line.split()) in said
    if student == "s02":
        assert "Say which gradients, and why." in said
        assert " ".join(re.sub("`", "", ANSWER).split()) in said
    hidden = secrets()
    assert len(hidden) > 1000
    assert not [line for line in hidden if line in said or line in html]


def secrets() -> set[str]:
    """Return every line of code that no student has been given."""
    public = "".join(p.read_text() for p in (ROOT / "assignments" / ASSIGNMENT).rglob("*.py"))
    lines = lines_of_code(ROOT / "reference" / ASSIGNMENT)
    lines = {line for line in lines if len(line) > 25 and not line.startswith(("from ", "import "))}
    # A docstring is the title of a criterion, which feedback names.
    return {line for line in lines if line not in public and not line.startswith('"""')}
