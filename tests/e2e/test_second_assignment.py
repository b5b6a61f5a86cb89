"""A course with the second assignment, by nbgrader's commands: from new folder to feedback."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import write_class
from tests.conftest import ROOT
from tests.platforms.nbgrader.conftest import Course

# The other tests here take the first assignment the same way.
pytestmark = pytest.mark.release

NAME = "language_model"
CLASS = ROOT / "tests" / "classes" / NAME
STUDENTS = ["s01", "s07", "s12"]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course in which three of the made-up class have handed in, and were autograded."""
    base = tmp_path_factory.mktemp("second")
    keep = {"PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR"}
    environment = {key: value for key, value in os.environ.items() if key in keep}
    environment |= {"HOME": str(base), "GRADEFORMER_ROOT": str(ROOT), "PYTHONPATH": str(ROOT)}
    environment |= {"PYTHONWARNINGS": "ignore"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    found = Course(base / "course", ROOT, environment, NAME)
    command = [sys.executable, "-m", "autograder", "course", "init", str(found.folder)]
    done = subprocess.run(
        [*command, "--assignment", NAME],
        capture_output=True,
        text=True,
        env=environment,
        cwd=base,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found.run("nbgrader", "generate_assignment", NAME)
    write_class(load_assignment(ROOT, NAME), ROOT, CLASS, base / "class")
    for student in STUDENTS:
        handed_in = found.hand_in(student, {})
        shutil.copytree(base / "class" / student, handed_in, dirs_exist_ok=True)
    found.autograde()
    return found


def test_marks_are_those_of_the_results(course: Course) -> None:
    results = course.results()
    assert sorted(results) == STUDENTS
    for component in results["s01"]["components"]:
        marks = course.marks(component)
        for student in STUDENTS:
            assert marks[student].auto == results[student]["components"][component]["score"]
    assert results["s01"]["score"] == 100
    assert results["s07"]["score"] < 100


def test_our_own_command_leaves_the_same_marks(course: Course, tmp_path: Path) -> None:
    other = course.copy(tmp_path / "course")
    (other.folder / "gradebook.db").unlink()
    shutil.rmtree(other.folder / "autograded")
    other.run("nbgrader", "generate_assignment", NAME, "--force")
    other.grade()
    for component in course.results()["s01"]["components"]:
        assert other.marks(component) == course.marks(component)


def test_students_get_feedback_with_their_own_pictures(course: Course) -> None:
    course.run("nbgrader", "generate_feedback", NAME)
    for student in STUDENTS:
        page = course.folder / "feedback" / student / NAME / "workbook.html"
        text = page.read_text("utf-8")
        assert "of 100" in text or "points" in text
        assert "data:image/png" in text
