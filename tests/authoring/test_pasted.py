"""Nothing that a release contains earns points when it is handed in."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.pasted import faults_of, submissions
from autograder.authoring.release import release
from autograder.authoring.selftest import must_earn_nothing
from autograder.errors import UsageError
from autograder.results import ComponentResult, SubmissionResult

TOML = """
schema = 1
name = "means"
title = "Means"

[[components]]
name = "mean"
points = 2

[[components]]
name = "spread"
points = 2
uses = ["mean"]
"""
MEAN = '''"""Means."""


def mean(values, start=0.0):
    """Return the mean of some numbers."""
    ### BEGIN SOLUTION
    return start + (sum(values) - start * len(values)) / len(values)
    ### END SOLUTION
'''
SPREAD = '''"""Spreads."""

from mean import mean


def spread(values):
    """Return the mean distance from the mean."""
    ### BEGIN SOLUTION
    middle = mean(values)
    return mean([abs(value - middle) for value in values])
    ### END SOLUTION
'''
TEST = '''
import pytest


@pytest.mark.criterion(points=2, source="page 1")
@pytest.mark.parametrize("values", [[1.0, 3.0], [2.0, 2.0, 8.0]])
def test_value(component, expect, values):
    """the value is right"""
    middle = sum(values) / len(values)
    right = {right}
    expect.same(component.call("{name}", values).value, right, "{name}")
'''
# Long enough to be told from other work.
GIVEN = """
import math


def average(numbers, first=0.0):
    total, count = 0.0, 0
    for number in numbers:
        if not math.isfinite(number):
            raise ValueError("a number is not finite")
        total = total + number
        count = count + 1
    return total / count
"""
STAND_IN = (
    "import statistics\n\n\ndef mean(values, start=0.0):\n    return statistics.fmean(values)\n"
)


def course(root: Path, **more: str) -> Assignment:
    public, secret = root / "assignments/means", root / "reference/means"
    files = {
        public / "assignment.toml": TOML,
        public / "README.md": "# Means\n",
        public / "mean.py": MEAN.replace("return start + ", "raise NotImplementedError  # "),
        public / "spread.py": SPREAD.replace("middle = mean", "raise NotImplementedError  # "),
        public / "tests/test_mean.py": TEST.format(name="mean", right="middle"),
        public / "tests/test_spread.py": TEST.format(
            name="spread", right="sum(abs(value - middle) for value in values) / len(values)"
        ),
        secret / "mean.py": MEAN,
        secret / "spread.py": SPREAD,
        secret / "stand_ins/mean.py": STAND_IN,
        **{root / path.replace("__", "/"): text for path, text in more.items()},
    }
    (secret / "tests").mkdir(parents=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_assignment(root, "means")


def test_given_text_is_handed_in_in_every_place_that_it_fits(tmp_path: Path) -> None:
    page = "# Means\n\n```python\ndef mean(values):\n    return 1\n```\n"
    assignment = course(
        tmp_path,
        **{
            "assignments__means__provided__sums.py": GIVEN,
            "assignments__means__README.md": page,
        },
    )
    found = {one.words: one.components for one in submissions(assignment)}
    assert found == {
        "provided/sums.py: average under the name that is asked for": ("mean", "spread"),
        "provided/sums.py: average imported": ("mean", "spread"),
        "README.md: as it is": ("mean",),
        "README.md: mean under the name that is asked for": ("spread",),
    }
    alone = {one.components for one in submissions(assignment, ["spread"])}
    assert alone == {("spread",)}


def test_a_fault_names_file_component_points_and_repair(tmp_path: Path) -> None:
    assignment = course(tmp_path)
    part = ComponentResult(score=2, max_score=2, status="graded", criteria=[])
    result = SubmissionResult.model_construct(components={"mean": part})
    assert faults_of(assignment, {"stand_ins/mean.py: as it is": result}) == [
        "stand_ins/mean.py: as it is, handed in as mean, earns 2 of 2 points: forbid an operation "
        "that it uses, or move the file to reference/means/stand_ins/"
    ]


@pytest.mark.slow
def test_a_release_is_refused_while_a_stand_in_in_it_earns_points(
    tmp_path: Path,
) -> None:
    where = {"assignments__means__stand_ins__mean.py": STAND_IN}
    assignment = course(tmp_path / "one", **where)
    assignment.own_stand_in("mean").unlink()
    with pytest.raises(UsageError, match=r"stand_ins/mean\.py: .* as mean, earns 2 of 2 points: "):
        must_earn_nothing(assignment)
    # A rule refuses it, or it is not there.
    toml = assignment.public / "assignment.toml"
    ruled = TOML.replace(
        "points = 2\n\n", 'points = 2\nrules = { modules = ["statistics"] }\n\n', 1
    )
    toml.write_text(ruled)
    must_earn_nothing(load_assignment(tmp_path / "one", "means"))
    toml.write_text(TOML)
    assignment.own_stand_in("mean").parent.mkdir(exist_ok=True)
    shutil.move(assignment.given_stand_in("mean"), assignment.own_stand_in("mean"))
    moved = load_assignment(tmp_path / "one", "means")
    must_earn_nothing(moved)
    release(moved, tmp_path / "out", lambda one: {})
    texts = [path.read_text() for path in (tmp_path / "out").rglob("*.py")]
    assert not any("statistics.fmean" in text for text in texts)


@pytest.mark.slow
def test_provided_code_that_would_do_is_recognised_and_a_short_piece_is_refused(
    tmp_path: Path,
) -> None:
    place = "assignments__means__provided__sums.py"
    must_earn_nothing(course(tmp_path / "one", **{place: GIVEN}))
    short = "def middle(numbers):\n    return sum(numbers) / len(numbers)\n"
    with pytest.raises(UsageError, match=r"sums\.py: middle under the name .* earns 2 of 2"):
        must_earn_nothing(course(tmp_path / "two", **{place: short}))


def at_home(folder: Path, *tests: str) -> str:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", *tests]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_at_home_a_check_behind_a_broken_component_waits_for_a_working_one(tmp_path: Path) -> None:
    made, folder = course(tmp_path / "one"), tmp_path / "out"
    release(made, folder, lambda one: {})
    (folder / "mean.py").write_text("def mean(values):\n    return min(values)\n")
    (folder / "spread.py").write_text(SPREAD)
    shown = at_home(folder)
    [line] = [one for one in shown.splitlines() if one.startswith("spread ")]
    assert line.endswith("1 check waits for a working mean")
    assert "spread: " not in shown
    # What does not run it is the own mistake, and so is all that fails once it works.
    (folder / "spread.py").write_text("def spread(values):\n    return 0.5\n")
    assert "spread: 2 checks failed" in at_home(folder)
    shutil.copy(made.secret / "mean.py", folder)
    (folder / "spread.py").write_text(SPREAD.replace("abs(", "-abs("))
    shown = at_home(folder)
    assert "spread: 2 checks failed" in shown
    assert "waits" not in shown


@pytest.mark.slow
def test_at_home_given_text_is_told_as_in_grading(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    place = "assignments__means__provided__sums.py"
    release(course(tmp_path / "one", **{place: GIVEN}), folder, lambda one: {})
    (folder / "mean.py").write_text("from provided.sums import average as mean\n")
    shown = at_home(folder, "tests/test_mean.py")
    assert "mean is imported from provided/sums.py, which the handout gives; it scores 0" in shown
