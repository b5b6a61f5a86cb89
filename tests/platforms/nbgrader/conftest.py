"""A small course whose assignment has layer_norm alone, with nbgrader's own commands."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, make_project

REFERENCE = ROOT / "reference" / "transformer_block"
HALF = """\
import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(x.var(-1, keepdim=True) + eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
"""
_TEXT = """\
# introduction

Two sentences. Hand it in.

# layer_norm: Layer norm

Give every vector mean 0.

# question scale, 4 points

Why is there a weight?

## a good answer says

- Because of the scale.
"""
_VIEWS = """\
import torch


def layer_norm(component, show):
    show.heatmap("Rows of an identity", component.call("layer_norm", torch.eye(3)).output)
"""
_READ = """
select sa.student_id, base_cell.name, g.auto_score, g.manual_score, g.extra_credit,
       g.needs_manual_grade, sn.late_submission_penalty
from grade g
join base_cell on base_cell.id = g.cell_id
join submitted_notebook sn on sn.id = g.notebook_id
join submitted_assignment sa on sa.id = sn.assignment_id
join assignment on assignment.id = sa.assignment_id
where assignment.name = ?
"""
_MARK = """
update grade set {column} = ? where cell_id in (select id from base_cell where name = ?)
and notebook_id in (
    select sn.id from submitted_notebook sn join submitted_assignment sa on sa.id = sn.assignment_id
    where sa.student_id = ?
)
"""


@dataclass(frozen=True)
class Mark:
    """What one graded cell of one student came to."""

    auto: float | None
    manual: float | None
    extra: float | None
    waits: bool
    penalty: float | None


@dataclass(frozen=True)
class Course:
    """A course folder, and the project that grades it."""

    folder: Path
    project: Path
    environment: Mapping[str, str]
    name: str = "norm"

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder}/gradebook.db"

    def run(self, *command: str | Path, fails: bool = False) -> str:
        """Run a Python module's command in the course; return all that it printed."""
        done = subprocess.run(
            [sys.executable, "-m", *map(str, command)],
            cwd=self.folder,
            env={**self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert (done.returncode != 0) is fails, done.stdout
        return done.stdout

    def autograde(self, *more: str, fails: bool = False) -> str:
        return self.run("nbgrader", "autograde", self.name, *more, fails=fails)

    def grade(self, *more: str, fails: bool = False) -> str:
        """Mark the class with our own command."""
        command = ("autograder", "grade", "submitted", "--gradebook", self.url)
        return self.run(*command, *more, fails=fails)

    def hand_in(
        self,
        student: str,
        files: Mapping[str, str],
        change: Callable[[Any], None] | None = None,
        late_s: int | None = None,
    ) -> Path:
        """Put a submission where `nbgrader collect` would."""
        target = self.folder / "submitted" / student / self.name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder / "release" / self.name, target)
        for name, text in files.items():
            (target / name).write_text(text)
        if change is not None:
            path = target / "workbook.ipynb"
            notebook = json.loads(path.read_text())
            change(notebook)
            path.write_text(json.dumps(notebook))
        if late_s is not None:
            (target / "timestamp.txt").write_text(f"2026-01-01 00:00:{late_s:02} UTC")
        return target

    def marks(self, cell: str = "layer_norm") -> dict[str, Mark]:
        """Read the gradebook's marks of a cell, by student."""
        with contextlib.closing(sqlite3.connect(self.folder / "gradebook.db")) as gradebook:
            rows = gradebook.execute(_READ, [self.name]).fetchall()
        return {
            student: Mark(auto, manual, extra, bool(waits), penalty)
            for student, name, auto, manual, extra, waits, penalty in rows
            if name == cell
        }

    def mark_by_hand(self, student: str, cell: str, **values: float | bool) -> None:
        """Write what formgrader writes."""
        with contextlib.closing(sqlite3.connect(self.folder / "gradebook.db")) as gradebook:
            for column, value in values.items():
                gradebook.execute(_MARK.format(column=column), [value, cell, student])
            gradebook.commit()

    def results(self) -> dict[str, Any]:
        paths = (self.folder / "gradeformer" / self.name / "results").glob("*.json")
        return {path.stem: json.loads(path.read_text()) for path in paths}

    def workbook(self, student: str) -> Any:
        path = self.folder / "autograded" / student / self.name / "workbook.ipynb"
        return json.loads(path.read_text())

    def outputs(self, student: str, cell: str = "layer_norm") -> list[Any]:
        """Return the outputs of a graded cell after autograding."""
        graded = self.workbook(student)["cells"]
        about = {c["metadata"].get("nbgrader", {}).get("grade_id"): c for c in graded}
        return list(about[cell]["outputs"])

    def copy(self, folder: Path) -> Course:
        shutil.copytree(self.folder, folder)
        return Course(folder, self.project, self.environment, self.name)


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course that was made and generated, with no submission yet."""
    base = tmp_path_factory.mktemp("nbgrader")
    project = make_project(base / "project", "norm", ["layer_norm"])
    secret = project / "reference" / "norm"
    (secret / "misconceptions").mkdir()
    shutil.copy(REFERENCE / "misconceptions" / "layer_norm.diff", secret / "misconceptions")
    (project / "assignments" / "norm" / "tests" / "views.py").write_text(_VIEWS)
    return make_course(base, project, _TEXT)


def make_course(base: Path, project: Path, text: str) -> Course:
    """Make a course of a project's assignment `norm`, with this text of its workbook."""
    workbook = project / "reference" / "norm" / "workbook"
    workbook.mkdir()
    (workbook / "text.md").write_text(text)
    # Nothing of the user's own settings, and nothing written into them.
    keep = {"PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR"}
    home = base / "home"
    home.mkdir()
    environment = {key: value for key, value in os.environ.items() if key in keep}
    environment |= {"HOME": str(home), "GRADEFORMER_ROOT": str(project), "PYTHONPATH": str(ROOT)}
    environment |= {"PYTHONWARNINGS": "ignore"}
    # As in an activated environment: nbgrader looks there for alembic.
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    course = Course(base / "course", project, environment)
    done = subprocess.run(
        [sys.executable, "-m", "autograder", "workbook", "norm", "--root", str(project)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "autograder", "course", "init", str(course.folder)]
    done = subprocess.run(
        [*command, "--assignment", "norm", "--root", str(project)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=base,
    )
    assert done.returncode == 0, done.stderr
    course.run("nbgrader", "generate_assignment", "norm")
    return course


@pytest.fixture
def course(blank: Course, tmp_path: Path) -> Course:
    """A course of one's own."""
    return blank.copy(tmp_path / "course")
