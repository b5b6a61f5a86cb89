"""A course of plain Python and numpy: neither its students nor its children load torch."""

import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.api.component import Component
from autograder.assignment import load_assignment
from autograder.authoring.known_numbers import of_component
from autograder.authoring.release import kept_numbers, known_numbers, release
from autograder.sandbox.host import Sandbox
from tests.conftest import BUDGET, ROOT

TOML = """\
schema = 1
name = "counts"
title = "Counting"
seed = 3

[[components]]
name = "words"
points = 1
rules = { modules = ["torch", "numpy"] }

[[components]]
name = "means"
points = 4
rules = { functions = ["numpy.average"] }
"""
WORDS = '''
def count(text: str) -> dict[str, int]:
    """Count the words."""
    found: dict[str, int] = {}
    for word in text.split():
        found[word] = found.get(word, 0) + 1
    return found
'''
MEANS = '''
import numpy as np


def means(rows: np.ndarray) -> np.ndarray:
    """Return the mean of every column."""
    return rows.mean(axis=0)


def spread(rows: np.ndarray) -> float:
    """Return the standard deviation of all numbers."""
    return float(rows.std())
'''
TEST_WORDS = '''
import pytest


@pytest.mark.criterion(points=1, source="page 1")
def test_count(component, expect):
    """words are counted"""
    expect.same(component.call("count", "a b a").value, {"a": 2, "b": 1})
'''
TEST_MEANS = '''
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROWS = np.array([[1.0, 2.0, 9.0], [3.0, 7.0, 4.5]])


@pytest.mark.criterion(points=1, source="page 2")
def test_means(component, expect):
    """the means are those of the columns"""
    expect.same(component.call("means", ROWS).array, np.array([2.0, 4.5, 6.75]), "the means")


@pytest.mark.criterion(points=1, source="page 3")
@given(seed=st.integers(0, 100))
def test_spread(component, expect, seed):
    """moving all numbers changes no spread, and the spread is that of the population"""
    rows = np.random.default_rng(seed).normal(size=(4, 3))
    expect.same(component.call("spread", rows + 5).number, float(rows.std()), "the spread")
'''
HIDDEN = '''
import numpy as np
import pytest


@pytest.mark.criterion(points=2, source="page 4")
def test_many(component, reference, expect):
    """the means of many rows are right"""
    rows = np.arange(60.0).reshape(20, 3) ** 0.5
    expect.same(component.call("means", rows).array, reference.call("means", rows).array)
'''
MISTAKES = """\
@@ first_row: page 2
you leave the first row out of the mean
-    return rows.mean(axis=0)
+    return rows[1:].mean(axis=0)
"""
# As on a machine without torch: whoever asks for it is refused.
RUN = "import sys; sys.modules['torch'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("plain")
    public, secret = root / "assignments" / "counts", root / "reference" / "counts"
    files = {
        public / "assignment.toml": TOML,
        public / "README.md": "# Counting\n",
        public / "words.py": "def count(text):\n    raise NotImplementedError\n",
        public / "means.py": "def means(rows):\n    raise NotImplementedError\n",
        public / "tests/test_words.py": TEST_WORDS,
        public / "tests/test_means.py": TEST_MEANS,
        secret / "words.py": WORDS,
        secret / "means.py": MEANS,
        secret / "tests/test_means.py": HIDDEN,
        secret / "misconceptions/means.diff": MISTAKES,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def folder(project: Path, tmp_path: Path) -> Path:
    """The student's folder, with right work."""
    counts = load_assignment(project, "counts")
    release(counts, tmp_path / "release", lambda _: {"means": of_component(counts, "means")})
    (tmp_path / "release" / "words.py").write_text(WORDS)
    (tmp_path / "release" / "means.py").write_text(MEANS)
    return tmp_path / "release"


def run(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", RUN, "-p", "no:cacheprovider", *more]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


def test_students_run_their_checks_without_torch(folder: Path) -> None:
    done = run(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 of 2 public points" in done.stdout


def test_what_is_wrong_is_told_without_torch(folder: Path) -> None:
    (folder / "means.py").write_text(MEANS.replace("mean(axis=0)", "sum(axis=0)"))
    done = run(folder)
    assert done.returncode == 1
    assert "the means is off by 6.75 at [2]; 3 of 3 values are wrong" in done.stdout
    assert "hint: every value is the right one times 2" in done.stdout
    assert "expected [2.0, 4.5, 6.75]" in done.stdout
    (folder / "means.py").write_text(MEANS.replace("rows.mean(axis=0)", "rows[1:].mean(axis=0)"))
    assert "likely cause: you leave the first row out of the mean" in run(folder).stdout


@pytest.mark.parametrize("place", ["means", "helper"])
def test_who_uses_what_is_forbidden_has_no_points_at_home_either(folder: Path, place: str) -> None:
    means = MEANS.replace("rows.mean(axis=0)", "np.average(rows, axis=0)")
    if place == "helper":
        (folder / "helper.py").write_text(means)
        means = MEANS.replace("rows.mean(axis=0)", "helper.means(rows)")
        means = f"import helper\n{means}"
    (folder / "means.py").write_text(means)
    done = run(folder)
    assert done.returncode == 1
    assert re.search(
        r"means +0 of 2 public points \(worth 4 in all\): .*numpy.average", done.stdout
    )
    assert re.search(r"words +1 of 1 public points", done.stdout)


def test_a_loop_that_never_ends_is_stopped_and_named(folder: Path) -> None:
    endless = "    while len(rows):\n        try:\n            rows = rows + 1\n"
    endless += "        except ValueError:\n            pass\n"
    (folder / "means.py").write_text(MEANS.replace("    return float(rows.std())", endless))
    (folder / "words.py").write_text(
        WORDS.replace("    for word", "    while text:\n        pass\n    for word")
    )
    done = run(folder, "--longest=0.5")
    assert done.returncode == 1
    assert "it was stopped because it took too long: is there an endless loop?" in done.stdout
    assert re.search(r"\(words\.py, line [56]\)", done.stdout), done.stdout
    assert re.search(r"\(means\.py, line 1[2-4]\)", done.stdout), done.stdout
    # What ends keeps its points.
    assert re.search(r"means +1 of 2 public points", done.stdout)


def test_what_needs_torch_says_so(project: Path, folder: Path) -> None:
    assert "PACKAGES = []" in (folder / "tests" / "conftest.py").read_text()
    transformer = load_assignment(ROOT, "transformer_block")
    assert transformer.uses_torch
    assert not load_assignment(project, "counts").uses_torch


def test_children_and_judge_load_no_torch(project: Path, tmp_path: Path) -> None:
    """Where torch cannot be imported at all, a class is graded as anywhere."""
    batch = tmp_path / "batch"
    for name, means in (("right", MEANS), ("wrong", MEANS.replace("axis=0", "axis=1"))):
        (batch / name).mkdir(parents=True)
        (batch / name / "words.py").write_text(WORDS)
        (batch / name / "means.py").write_text(means)
    # A module of this name that fails stands before the real one.
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "torch.py").write_text("raise ImportError('torch was imported')\n")
    command = [sys.executable, "-m", "autograder", "grade", str(batch), "--assignment", "counts"]
    command += ["--root", str(project), "--out", str(tmp_path / "out"), "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "first")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    results = {
        name: json.loads((tmp_path / "out" / "results" / f"{name}.json").read_text())
        for name in ("right", "wrong")
    }
    assert results["right"]["score"] == 5
    assert results["wrong"]["score"] == 2


def test_a_child_imports_torch_only_if_its_own_code_does() -> None:
    source = b"import sys\n\ndef loaded():\n    return 'torch' in sys.modules\n\n"
    source += b"def ones():\n    import torch\n    return torch.ones(2)\n"
    sandbox = Sandbox(0, replace(BUDGET, call_cpu_s=60.0, cpu_s=60), tensors=False)
    try:
        with contextlib.closing(sandbox.fork("own", {"own.py": source})) as child:
            component = Component(child, lambda answer: None)
            assert component.call("loaded").flag is False
            assert component.call("ones").output.tolist() == [1.0, 1.0]
    finally:
        sandbox.close()


@pytest.mark.parametrize(
    ("changed", "current"),
    [
        ("", {"words", "means"}),
        ("reference/counts/misconceptions/means.diff", {"words"}),
        ("assignments/counts/tests/test_words.py", {"means"}),
        ("assignments/counts/tests/test_means.py", {"words"}),
        ("reference/counts/tests/test_means.py", {"words"}),
        ("reference/counts/means.py", set()),
        ("kept", set()),
    ],
)
def test_a_kept_table_is_taken_as_long_as_the_files_are_those(
    project: Path, tmp_path: Path, changed: str, current: set[str]
) -> None:
    assignment = load_assignment(shutil.copytree(project, tmp_path / "project"), "counts")
    known_numbers(assignment, keep=True)
    kept = assignment.secret / "known_mistakes.json.gz"
    kept.write_bytes(gzip.compress(gzip.decompress(kept.read_bytes()).replace(b"first", b"last")))
    if changed == "kept":
        kept.write_bytes(kept.read_bytes()[:-20])
    elif changed:
        with (assignment.root / changed).open("a") as file:
            file.write("\n# changed\n")
    assert set(kept_numbers(assignment)) == current
    (mistake,) = known_numbers(assignment)["means"]["mistakes"]
    row = "last" if "means" in current else "first"
    assert mistake["words"] == f"you leave the {row} row out of the mean (page 2)"
