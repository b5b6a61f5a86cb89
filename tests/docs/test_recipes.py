"""Every recipe of docs/recipes.md holds: right work keeps its points, a mistake loses some."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring import stubs
from tests.conftest import ROOT
from tests.page import RECIPES, write_course

# One grading of all.
pytestmark = pytest.mark.slow
# By component, what stands in the solution and what somebody wrote in its place.
MISTAKES = {
    "waiting": ("list(await asyncio.gather(*map(double, numbers)))", "map(double, numbers)"),
    "pages": ('found = environment["PATH_INFO"] == "/"', "found = True"),
    "queries": ("SUM(amount)", "MAX(amount)"),
    "notes": ('f"{line}\\n"', 'f"{line}"'),
    "talking": ("{name}", "name"),
    "calling_back": ("        function(index, number)", "        function(number, index)"),
    "chance": ("integers(1, 7, n)", "integers(1, 6, n)"),
    "vectors": ("[:, -1]", "[:, 0]"),
    "averages": ("sorted(groups.items())", "groups.items()"),
    "picture": ("range(1, len(losses) + 1)", "range(len(losses))"),
    "depth": (
        "level, found = [nested], 0",
        "return 1 + max((depth(inner) for inner in nested), default=0)",
    ),
    "learning": ("w = w - rate", "w = w + rate"),
}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """The assignment that the recipes make up."""
    root = write_course(tmp_path_factory.mktemp("recipes"), RECIPES, "recipes")
    found = load_assignment(root, "recipes")
    stubs.write(found)
    return found


@pytest.fixture(scope="module")
def graded(course: Assignment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The components of solutions, mistakes and stubs."""
    base = tmp_path_factory.mktemp("graded")
    for name in ("right", "wrong", "stubs"):
        (base / "batch" / name).mkdir(parents=True)
    for component in course.totals:
        text = (course.secret / f"{component}.py").read_text()
        stub = (course.public / f"{component}.py").read_text()
        right, wrong = MISTAKES[component]
        assert text.count(right) == 1, component
        for name, source in (
            ("right", text),
            ("wrong", text.replace(right, wrong)),
            ("stubs", stub),
        ):
            (base / "batch" / name / f"{component}.py").write_text(source)
    command = [sys.executable, "-m", "autograder", "grade", str(base / "batch")]
    command += ["--assignment", "recipes", "--out", str(base / "out"), "--root", str(course.root)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    results = Path(base / "out" / "results").glob("*.json")
    return {path.stem: json.loads(path.read_text())["components"] for path in results}


@pytest.mark.parametrize("component", MISTAKES)
def test_right_work_keeps_its_points_and_a_mistake_loses_some(
    graded: dict[str, Any], component: str
) -> None:
    right = graded["right"][component]
    assert right["score"] == right["max_score"], right["message"]
    assert graded["wrong"][component]["status"] == "graded"
    assert graded["wrong"][component]["score"] < right["max_score"]
    assert graded["stubs"][component]["status"] == "not_attempted"


def test_every_recipe_has_a_mistake(course: Assignment) -> None:
    assert list(course.totals) == list(MISTAKES)
