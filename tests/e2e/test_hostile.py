"""A student who attacks from modules and from the workbook has what the honest part earns."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import Autograded
from tests.e2e.course import ASSIGNMENT
from tests.e2e.gradebook import read
from tests.e2e.submissions import attack

if TYPE_CHECKING:
    from tests.e2e.formgrader import Formgrader


def test_the_hostile_student_has_the_honest_points(
    autograded: Autograded, expected: dict[str, Any]
) -> None:
    marks = autograded.after.of("s03")
    earned = {name: mark.score for name, mark in marks.items() if mark.score}
    assert earned == {"positional_encoding": 12}
    assert expected["s03"]["score"] == autograded.after.totals["s03"] == 12


def test_the_gradebook_has_what_it_had(autograded: Autograded) -> None:
    before, after = autograded.before, autograded.after
    assert after.cells == before.cells
    # Nobody but a person gives manual marks.
    assert {(mark.manual, mark.extra) for mark in after.marks.values()} <= {
        (None, None),
        (None, 0.0),
    }
    for student in ("s01", "s02", "s03"):
        assert after.of(student).keys() == {name for _, name, _, _ in before.cells}


@pytest.mark.release
def test_the_attack_works_where_nothing_confines_it(
    autograde_with: Callable[[str], Autograded], tmp_path: Path
) -> None:
    """Otherwise the tests above would say nothing."""
    folder = tmp_path / "autograded" / "s03" / ASSIGNMENT
    folder.mkdir(parents=True)
    shutil.copy(autograde_with("sqlite").course.folder / "gradebook.db", tmp_path)
    attack(folder, tmp_path)
    raised = read(f"sqlite:///{tmp_path}/gradebook.db")
    assert {mark.manual for mark in raised.marks.values()} == {1000}


def test_formgrader_shows_the_courses_points_and_runs_no_answer(formgrader: Formgrader) -> None:
    formgrader.submission("s03")
    formgrader.cell("question_heads").scroll_into_view_if_needed()
    formgrader.picture("s03")
    for name, points in (("layer_norm", 14), ("transformer_block", 16), ("lm_head", 10)):
        assert f"/ {points}.0" in formgrader.cell(name).inner_text()
    page = formgrader.browser.page
    assert page.locator("input.score#bonus").count() == 0
    # What would run is shown as text instead.
    assert "taken over" in formgrader.cell("question_heads").inner_text()
    assert page.title() == "workbook"
    assert page.evaluate("window.taken === undefined")
