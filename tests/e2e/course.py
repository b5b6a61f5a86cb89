"""A course folder, and the way of an assignment from there to the students and back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.e2e.people import AS_ROOT, COURSE_ID, TEACHER, People

ASSIGNMENT = "transformer_block"
NOTEBOOK = "workbook"


@dataclass(frozen=True)
class Course:
    """A folder with an nbgrader_config.py, and the teacher's commands in it."""

    people: People
    folder: Path
    url: str

    def nbgrader(self, *args: str | Path) -> str:
        return self.people.nbgrader(TEACHER, *args, cwd=self.folder)

    def collect(self) -> str:
        """Collect where the students have names: nbgrader compares them with the files' owners."""
        command = [sys.executable, "-m", "nbgrader", "collect", ASSIGNMENT]
        return self.people.run(TEACHER, self.people.knowing(command), self.folder).stdout

    def mark_class(self) -> None:
        """Grade and mark the class with our own command."""
        command = [sys.executable, "-m", "autograder", "grade", str(self.folder / "submitted")]
        done = subprocess.run(
            [*command, "--gradebook", self.url],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def results(self) -> dict[str, dict[str, Any]]:
        """Read the result files that autograding left in the course."""
        return read_results(self.folder / "gradeformer" / ASSIGNMENT)

    def copy(self, name: str, url: str | None = None) -> Course:
        """Copy the course as it is, with an empty gradebook in another database."""
        folder = self.folder.with_name(name)
        url = url or f"sqlite:///{folder}/gradebook.db"
        shutil.copytree(self.folder, folder, ignore=shutil.ignore_patterns("gradebook.db"))
        with (folder / "nbgrader_config.py").open("a") as config:
            config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")
        course = Course(self.people, folder, url)
        # The gradebook learns from this what there is to mark.
        course.nbgrader("generate_assignment", ASSIGNMENT, "--force")
        return course


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the results of a batch, by submission."""
    paths = (folder / "results").glob("*.json")
    found = [json.loads(path.read_text()) for path in paths]
    return {result["submission"]: result for result in found}


def make(people: People) -> Course:
    """Make a course with our own command, and name it the exchange as a teacher would."""
    folder = people.home(TEACHER) / "course"
    command = [sys.executable, "-m", "autograder", "course", "init", str(folder)]
    command += ["--course-id", COURSE_ID]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    with (folder / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Exchange.root = {str(people.exchange)!r}\n")
        if not AS_ROOT:
            # The students' files are then ours.
            config.write("c.ExchangeCollect.check_owner = False\n")
    return Course(people, folder, f"sqlite:///{folder}/gradebook.db")


def grade_without_nbgrader(submitted: Path, out: Path) -> dict[str, dict[str, Any]]:
    """Grade what nbgrader collected with our own command."""
    command = [sys.executable, "-m", "autograder", "grade", str(submitted)]
    command += ["--assignment", ASSIGNMENT, "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return read_results(out)
