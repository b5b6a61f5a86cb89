"""A whole class marked by `autograder grade --gradebook`, as `nbgrader autograde` would mark it."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.platforms.nbgrader.conftest import HALF, Course, Mark
from tests.platforms.nbgrader.test_autograde import FULL, answer
from tests.sources import RIGHT

# tests/platforms/nbgrader/test_autograde.py grades a class by both commands, too.
pytestmark = pytest.mark.release


def hand_in_a_class(course: Course) -> None:
    course.hand_in("s01", {"layer_norm.py": RIGHT}, late_s=1)
    course.hand_in("s02", {"layer_norm.py": HALF}, answer("Because."))
    course.hand_in("s03", {})
    (course.hand_in("s04", {}) / "layer_norm.py").unlink()
    course.hand_in("s05", {"layer_norm.py": "def layer_norm(:\n"})


def everything(course: Course) -> dict[str, Any]:
    """Return all that autograding leaves: marks, workbooks, and the files beside them."""
    files = {
        path.relative_to(course.folder).as_posix(): path.read_bytes()
        for path in sorted((course.folder / "autograded").rglob("*"))
        if path.is_file()
    }
    assert any(name.endswith("workbook.ipynb") for name in files)
    return {"marks": [course.marks(cell) for cell in ("layer_norm", "question_scale")], **files}


def test_it_leaves_what_nbgrader_leaves(course: Course, tmp_path: Any) -> None:
    hand_in_a_class(course)
    # Who has handed in something else has no mark for this.
    (course.folder / "submitted" / "s06" / "plain").mkdir(parents=True)
    (course.folder / "submitted" / "s07.zip").write_bytes(b"PK")
    other = course.copy(tmp_path / "other")
    course.autograde()
    said = other.grade("--jobs", "2")
    assert "5 submissions: 4 graded, 1 empty" in said
    assert "not marked: s07.zip; nbgrader wants it unpacked" in said
    assert "Warning" not in said
    assert everything(other) == everything(course)
    assert other.marks()["s01"] == FULL
    assert (other.folder / "gradeformer" / "norm" / "results.csv").is_file()

    # What is done is left alone, and what is gone is made again, without grading anew.
    book = other.folder / "autograded" / "s01" / "norm" / "workbook.ipynb"
    before = book.stat().st_mtime_ns
    shutil.rmtree(other.folder / "autograded" / "s02")
    other.mark_by_hand("s03", "layer_norm", auto_score=9.0)
    said = other.grade()
    assert said.count("(unchanged)") == 5
    assert everything(other) == everything(course)
    assert book.stat().st_mtime_ns == before

    # A new answer without new code is a new workbook to mark.
    other.hand_in("s03", {}, answer("Now I know."))
    other.grade()
    assert other.marks("question_scale")["s03"] == Mark(None, None, None, True, None)


def test_a_missing_or_broken_workbook_costs_no_mark(course: Course) -> None:
    paths = [course.hand_in(f"s{n:02}", {"layer_norm.py": RIGHT}) for n in range(1, 7)]
    books = [path / "workbook.ipynb" for path in paths]
    books[0].unlink()
    books[1].write_bytes(b"\xff\xfe nonsense")
    books[2].write_text("[" * 100_000)
    books[3].write_text(json.dumps({"cells": {}, "metadata": [], "nbformat": 4}))
    text = json.loads(books[4].read_text())
    text["cells"][1]["metadata"] = 5
    text["cells"][2]["source"] = None
    books[4].write_text(json.dumps(text))
    said = course.grade()
    assert "6 submissions: 6 graded" in said
    assert course.marks() == {f"s{n:02}": FULL for n in range(1, 7)}
    cells = course.workbook("s01")["cells"]
    assert "missing or cannot be read" in "".join(cells[0]["source"])
    assert [output["output_type"] for output in course.outputs("s03")][-1] == "execute_result"

    # nbgrader itself passes over the one that has none; the others it marks as well.
    shutil.rmtree(course.folder / "autograded")
    course.run("nbgrader", "db", "student", "remove", "s02", "--force")
    course.autograde()
    assert course.marks()["s02"] == FULL


def test_unusable_gradebooks_are_one_sentence(course: Course, tmp_path: Any) -> None:
    course.hand_in("s01", {"layer_norm.py": RIGHT})

    def refused(
        url: str, *words: str, batch: str = "submitted", more: tuple[str, ...] = ()
    ) -> None:
        said = course.run("autograder", "grade", batch, "--gradebook", url, *more, fails=True)
        assert said.startswith("autograder: "), said
        assert "Traceback" not in said
        assert "secret" not in said
        for word in words:
            assert word in " ".join(said.split()), said

    refused(f"sqlite:///{tmp_path}/new.db", "does not exist", f"sqlite:///{course.folder}/grade")
    assert not (tmp_path / "new.db").exists()
    other = Course(tmp_path / "other", course.project, course.environment)
    shutil.copytree(course.folder, other.folder)
    other.run("nbgrader", "db", "assignment", "remove", "norm", "--force")
    refused(other.url, f"{other.url} has no assignment 'norm'", "nbgrader generate_assignment")
    refused("nonsense", "is no URL of a database: give sqlite:///")
    refused("postgresql+nothing://u:secret@localhost/x", "u:***@localhost/x cannot be opened")
    (course.folder / "empty").mkdir()
    refused(course.url, "holds none of norm", batch="empty")
    refused(course.url, "no nbgrader_config.py in", batch="submitted/s01")
    assert not (course.folder / "gradeformer").exists()
