"""Autograding a class: our step in nbgrader against nbgrader's own execution, in one run.

    python tests/benchmarks/course.py [--submissions N]

Both mark the same right submissions to the same points, from the same workbook. nbgrader's own
grade cells run the checks in the kernel that the student's code runs in (equivalent.py).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAME = "transformer_block"
RIGHT = ROOT / "reference" / NAME


def run(*command: str, cwd: Path) -> float:
    """Run a Python module's command; return its wall seconds."""
    keep = {"PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR"}
    environment = {key: value for key, value in os.environ.items() if key in keep}
    environment |= {"HOME": str(cwd.parent), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    environment |= {"GRADEFORMER_ROOT": str(ROOT)}
    # As in an activated environment: nbgrader looks there for alembic.
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    spent = time.perf_counter() - start
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return spent


def make(base: Path) -> Path:
    """Make a course with our step in it."""
    course = base / "ours"
    run("autograder", "course", "init", str(course), cwd=base)
    return course


def equivalent(ours: Path, name: str, checks: bool) -> Path:
    """Make a course with the same workbook, whose grade cells do the marking themselves.

    Args:
        ours: the course with our step in it.
        name: of the new course's folder.
        checks: keep the cells that show the student their public checks; nbgrader runs all cells.
    """
    plain = ours.with_name(name)
    source = plain / "source" / NAME
    shutil.copytree(ours / "source" / NAME, source)
    path = source / "workbook.ipynb"
    notebook: dict[str, Any] = json.loads(path.read_text())
    for cell in notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade") and not about["solution"]:
            call = f'mark("{about["grade_id"]}")'
            cell["source"] = f"from tests.benchmarks.equivalent import mark\n{call}"
        elif not checks and cell["cell_type"] == "code":
            cell["source"] = ""
    path.write_text(json.dumps(notebook))
    modules = sorted(found.name for found in source.glob("*.py"))
    (plain / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        'c.CourseDirectory.course_id = "plain"\n'
        f"c.Autograde.exclude_overwriting = {json.dumps({NAME: modules})}\n"
    )
    return plain


def hand_in(course: Path, count: int) -> None:
    """Put a class of right submissions where nbgrader collects them, each a different one."""
    run("nbgrader", "generate_assignment", NAME, cwd=course)
    for number in range(count):
        target = course / "submitted" / f"s{number:03}" / NAME
        shutil.copytree(course / "release" / NAME, target)
        for source in RIGHT.glob("*.py"):
            (target / source.name).write_text(source.read_text() + f"# {number}\n")


def scores(course: Path) -> list[str]:
    """Return what the gradebook says of every submission."""
    run("nbgrader", "export", cwd=course)
    with (course / "grades.csv").open() as file:
        return [row["score"] for row in csv.DictReader(file)]


def forget(course: Path) -> None:
    """Forget all marks and results of a course."""
    for path in ("autograded", "gradeformer"):
        shutil.rmtree(course / path, ignore_errors=True)
    (course / "gradebook.db").unlink()
    run("nbgrader", "generate_assignment", NAME, "--force", cwd=course)


@dataclass(frozen=True)
class Spent:
    """Wall seconds: ours and nbgrader's own for the class, and its own for one whole workbook."""

    step: float
    command: float
    cells: float
    workbook: float


def measure(count: int, few: int) -> Spent:
    """Mark a class of `count` in each way, and `few` whole workbooks in nbgrader's own."""
    with tempfile.TemporaryDirectory() as folder:
        ours = make(Path(folder))
        plain = equivalent(ours, "plain", checks=False)
        full = equivalent(ours, "full", checks=True)
        wanted = ["100.0"] * count
        hand_in(ours, count)
        step = run("nbgrader", "autograde", NAME, cwd=ours)
        assert scores(ours) == wanted, scores(ours)
        forget(ours)
        url = f"sqlite:///{ours}/gradebook.db"
        whole = run("autograder", "grade", "submitted", "--gradebook", url, cwd=ours)
        assert scores(ours) == wanted, scores(ours)
        hand_in(plain, count)
        own = run("nbgrader", "autograde", NAME, cwd=plain)
        assert scores(plain) == wanted, scores(plain)
        hand_in(full, few)
        executed = run("nbgrader", "autograde", NAME, cwd=full) / few
        assert scores(full) == wanted[:few], scores(full)
    return Spent(step, whole, own, executed)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=50)
    parser.add_argument("--whole", type=int, default=4, help="executed with the check cells")
    options = parser.parse_args()
    count, few = options.submissions, options.whole
    spent = measure(count, few)
    own, executed = spent.cells, spent.workbook
    print(f"autograding {count} submissions, each from its command's start to its end:")
    print(f"    nbgrader's own, the grade cells    {own:7.1f} s   {own / count:.2f} s each")
    print(f"    nbgrader's own, the whole workbook             {executed:.2f} s each (of {few})")
    for label, ours in (
        ("nbgrader autograde, with our step", spent.step),
        ("autograder grade --gradebook", spent.command),
    ):
        print(f"    {label:<34} {ours:7.1f} s   {ours / count:.2f} s each   ", end="")
        print(f"{own / ours:.1f} and {executed * count / ours:.1f} times faster")


if __name__ == "__main__":
    main()
