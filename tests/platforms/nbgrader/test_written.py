"""Written answers: what is unreadable, unexpected or missing waits for a person, who is told."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.platforms.nbgrader.conftest import Course
from tests.platforms.nbgrader.test_autograde import answer, page_of
from tests.sources import RIGHT

QUESTION, ANSWER = "question_scale", "Because it can learn a scale."
_COMMENT = """
select c.auto_comment from comment c
join base_cell on base_cell.id = c.cell_id
join submitted_notebook sn on sn.id = c.notebook_id
join submitted_assignment sa on sa.id = sn.assignment_id
where sa.student_id = ? and base_cell.name = ?
"""


def text_of(path: Path) -> str:
    return path.read_text()


def renamed(path: Path) -> None:
    path.rename(path.with_name("workbook (1).ipynb"))


def beside(path: Path) -> None:
    written = json.loads(text_of(path))
    answer(ANSWER)(written)
    path.with_name("workbook (1).ipynb").write_text(json.dumps(written))


def marked(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


def cut_off(path: Path) -> None:
    path.write_text(text_of(path)[:-30])


def in_conflict(path: Path) -> None:
    path.write_text(text_of(path).replace("\n", "\n<<<<<<< HEAD\n=======\n>>>>>>> x\n", 1))


def without_metadata(path: Path) -> None:
    book = json.loads(text_of(path))
    answer(ANSWER)(book)
    book.pop("metadata")
    for cell in book["cells"]:
        cell.pop("metadata")
    path.write_text(json.dumps(book))


def one_cell_lower(path: Path) -> None:
    book = json.loads(text_of(path))
    cell = {"cell_type": "markdown", "metadata": {}, "source": ANSWER, "id": "lower"}
    path.write_text(json.dumps({**book, "cells": [*book["cells"], cell]}))


def in_a_locked_cell(path: Path) -> None:
    book = json.loads(text_of(path))
    cells = book["cells"]
    locked = next(c for c in cells if c["metadata"].get("nbgrader", {}).get("locked"))
    locked["source"] = ANSWER
    path.write_text(json.dumps(book))


def in_the_introduction(path: Path) -> None:
    book = json.loads(text_of(path))
    book["cells"][0]["source"] = ANSWER
    path.write_text(json.dumps(book))


def answered(path: Path) -> None:
    book = json.loads(text_of(path))
    answer(ANSWER)(book)
    path.write_text(json.dumps(book))


def answered_and_renamed(path: Path) -> None:
    answered(path)
    renamed(path)


def answered_with_a_mark(path: Path) -> None:
    answered(path)
    marked(path)


# What becomes of the workbook; a part of the remark; whether the answer is shown to who marks.
WAYS: dict[str, tuple[Callable[[Path], object], str, bool]] = {
    "missing": (
        lambda path: (path.unlink(), beside_two(path)),
        "there is no workbook.ipynb",
        False,
    ),
    "beside": (beside, "there is also workbook (1).ipynb", False),
    "cut-off": (cut_off, "workbook.ipynb cannot be read", False),
    "conflict": (in_conflict, "workbook.ipynb cannot be read", False),
    "metadata": (without_metadata, "is not in the workbook: look at its other cells", True),
    "lower": (one_cell_lower, "1 other cell with text", True),
    "locked": (in_a_locked_cell, "1 other cell with text", True),
    "introduction": (in_the_introduction, "1 other cell with text", True),
    "renamed": (answered_and_renamed, "it was taken from workbook (1).ipynb", True),
    "mark": (answered_with_a_mark, "", True),
}


def beside_two(path: Path) -> None:
    for number in (1, 2):
        path.with_name(f"other {number}.ipynb").write_text("{}")


def comment_of(course: Course, student: str) -> str | None:
    with closing(sqlite3.connect(course.folder / "gradebook.db")) as gradebook:
        (found,) = gradebook.execute(_COMMENT, [student, QUESTION]).fetchone()
    return found


@pytest.fixture(scope="module", params=["nbgrader", "gradeformer"])
def class_of_ways(
    blank: Course, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Course:
    course = blank.copy(tmp_path_factory.mktemp("written") / "course")
    for name, (change, _, _) in WAYS.items():
        change(course.hand_in(name, {"layer_norm.py": RIGHT}) / "workbook.ipynb")
    course.hand_in("untouched", {"layer_norm.py": RIGHT})
    course.hand_in("answered", {"layer_norm.py": RIGHT}, answer(ANSWER))
    untouched_mark = course.hand_in("untouched-mark", {"layer_norm.py": RIGHT})
    marked(untouched_mark / "workbook.ipynb")
    course.hand_in("doubled", {"layer_norm.py": RIGHT})
    (course.folder / "submitted" / "doubled.zip").write_bytes(b"of nobody's interest")
    if request.param == "nbgrader":
        course.autograde()
    else:
        course.grade(fails=True)
    return course


def test_of_an_id_with_two_entries_nothing_is_marked(class_of_ways: Course) -> None:
    for cell in ("layer_norm", QUESTION):
        mark = class_of_ways.marks(cell)["doubled"]
        assert (mark.auto, mark.waits) == (None, True)
    result = class_of_ways.results()["doubled"]
    assert (result["status"], result["score"]) == ("rejected", None)
    assert "doubled and doubled.zip are both of" in page_of(class_of_ways, "doubled")


@pytest.mark.parametrize("name", WAYS)
def test_a_question_waits_and_the_reason_is_where_people_look(
    class_of_ways: Course, name: str
) -> None:
    _, words, shown = WAYS[name]
    mark = class_of_ways.marks(QUESTION)[name]
    assert (mark.auto, mark.waits) == (None, True)
    whole = class_of_ways.marks()[name]
    assert (whole.auto, whole.waits) == (14.0, False)
    notes = class_of_ways.results()[name]["notes"]
    cells = class_of_ways.workbook(name)["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    if words:
        assert any(words in note for note in notes)
        assert words in texts[0]
    assert any(text.strip() == ANSWER for text in texts) is shown
    if name not in ("renamed", "mark"):
        assert (comment_of(class_of_ways, name) or "") != "No response."


def test_only_an_untouched_question_is_unanswered(class_of_ways: Course) -> None:
    marks = class_of_ways.marks(QUESTION)
    for name in ("untouched", "untouched-mark"):
        assert (marks[name].auto, marks[name].waits) == (0.0, False)
        assert comment_of(class_of_ways, name) == "No response."
        assert class_of_ways.results()[name]["notes"] == []
    assert (marks["answered"].auto, marks["answered"].waits) == (None, True)
    assert class_of_ways.results()["answered"]["notes"] == []
