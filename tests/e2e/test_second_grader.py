"""A second grader at formgrader's pages, in a browser, beside the instructor who made the course.

Takes root, for the accounts, and a browser.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e.server import jupyter
from tests.platforms.nbgrader.accounts import (
    GRADER,
    INSTRUCTOR,
    STAFF,
    Department,
    Done,
    accounts,
)
from tests.platforms.nbgrader.conftest import HALF, Course, Mark, blank  # noqa: F401
from tests.sources import RIGHT

if TYPE_CHECKING:
    from tests.e2e.browser import Browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT: NO ACCOUNTS OF OTHERS CAN BE HAD HERE"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="BUBBLEWRAP IS NOT INSTALLED"),
]
COMMENT = "Say what it is that the weight gives back."


@dataclass(frozen=True)
class Day:
    """What the second grader saw and did, and what the instructor and a student had of it."""

    shown: dict[str, str]
    button: str
    after: dict[str, Mark]
    by_hand: dict[str, Mark]
    owners: dict[str, set[int]]
    modes: set[tuple[int, int, bool]]
    again: Done
    feedback: str


@pytest.fixture(scope="module")
def day(blank: Course, browser: Browser) -> Iterator[Day]:  # noqa: F811
    """One day of both graders, once."""
    from tests.e2e.formgrader import Formgrader

    with accounts() as people:
        there = Department(people, blank, command=True)
        there.staff(INSTRUCTOR, "nbgrader", "release_assignment", "norm")
        for student, text in (("ada", RIGHT), ("bob", HALF)):
            people.run(student, "nbgrader", "fetch_assignment", "norm")
            there.hand_in(student, text)
        there.staff(INSTRUCTOR, "nbgrader", "collect", "norm")
        done = there.staff(INSTRUCTOR, "nbgrader", "autograde", "norm")
        assert done.code == 0, done.said
        with jupyter(people, GRADER, there.course) as server:
            pages = Formgrader(browser, server, "second-grader", "norm")
            pages.log_in()
            rows = pages.submissions()
            shown = {name: row.locator(".score").inner_text() for name, row in rows.items()}
            pages.submission("bob")
            pages.mark("question_scale", 3, COMMENT)
            pages.picture("marked-bob")
            button = pages.autograde("bob")
        course = Course(there.course, there.project, {})
        after, by_hand = course.marks(), course.marks("question_scale")
        folders = {name: there.course / name / "bob" for name in ("submitted", "autograded")}
        owners = {
            name: {path.stat().st_uid for path in folder.rglob("*")}
            for name, folder in folders.items()
        }
        made = [*folders["autograded"].rglob("*"), *(there.course / "gradeformer").rglob("*")]
        modes = {
            (found.st_gid, found.st_mode & 0o777, path.is_dir())
            for path in made
            for found in [path.stat()]
        }
        again = there.staff(INSTRUCTOR, "nbgrader", "autograde", "norm", "--force")
        for command in ("generate_feedback", "release_feedback"):
            there.staff(INSTRUCTOR, "nbgrader", command, "norm")
        people.run("bob", "nbgrader", "fetch_feedback", "norm")
        (page,) = (people.home("bob") / "norm" / "feedback").rglob("*.html")
        kept = course.marks("question_scale")
        assert kept == by_hand
        yield Day(shown, button, after, by_hand, owners, modes, again, page.read_text())


def test_both_submissions_are_listed_with_the_scores_of_the_instructors_run(day: Day) -> None:
    assert day.shown["ada"].startswith("14 / ")
    assert not day.shown["bob"].startswith("14 / ")
    assert day.shown.keys() == {"ada", "bob"}


def test_the_button_grades_what_the_instructor_has_graded(day: Day) -> None:
    assert "Successfully autograded" in day.button
    assert day.after["ada"].auto == 14
    assert 0 < (day.after["bob"].auto or 0) < 14


def test_a_mark_and_a_comment_by_hand_reach_the_student(day: Day) -> None:
    assert day.by_hand["bob"].manual == 3
    assert COMMENT in day.feedback


def test_what_both_made_is_the_groups_and_nobody_elses(day: Day) -> None:
    assert len(day.owners["submitted"] | day.owners["autograded"]) == 2
    # nbgrader makes its files 664: their folders keep others out.
    folders = {(group, mode) for group, mode, folder in day.modes if folder}
    assert folders == {(STAFF, 0o770)}
    files = {(group, mode & 0o660) for group, mode, folder in day.modes if not folder}
    assert files == {(STAFF, 0o660)}


def test_the_instructor_goes_on_after_the_second_grader(day: Day) -> None:
    assert day.again.code == 0, day.again.said
