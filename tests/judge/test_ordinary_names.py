"""Known mistakes are named by ordinary tests, when they are graded and at home."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.release import known_numbers, release
from tests.judge.test_ordinary import SOLUTION, write

pytestmark = pytest.mark.slow

MISTAKES = """\
@@ shortest flaw
you return the shortest word; the longest is asked for
-    return max(found, key=len)
+    return min(found, key=len)
@@ first_alone flaw
you take the first word alone; each is asked for
-    return [function(word) for word in text.split()]
+    return [function(word) for word in text.split()[:1]]
"""
WRONG = SOLUTION.replace("max(", "min(")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """An assignment of ordinary tests with known mistakes."""
    found = write(tmp_path / "course")
    folder = found.secret / "misconceptions"
    folder.mkdir()
    (folder / "words.diff").write_text(MISTAKES)
    (found.public / "README.md").write_text("# Words\n")
    return load_assignment(found.root, found.name)


def test_a_mistake_is_named_when_it_is_graded(
    assignment: Assignment, tmp_path: Path, autograder: Callable[..., Any]
) -> None:
    for name, source in (("s01", WRONG), ("s02", SOLUTION)):
        (tmp_path / "batch" / name).mkdir(parents=True)
        (tmp_path / "batch" / name / "words.py").write_text(source)
    out = tmp_path / "out"
    autograder(
        *("grade", str(tmp_path / "batch"), "--assignment", assignment.name),
        *("--root", str(assignment.root), "--out", str(out), "--sandbox", "tier1"),
    )
    named = {
        name: json.loads((out / "results" / f"{name}.json").read_text(encoding="utf-8"))[
            "components"
        ]["words"]["misconceptions"]
        for name in ("s01", "s02")
    }
    assert named == {"s01": ["words.shortest"], "s02": []}


def test_a_mistake_is_named_at_home_when_all_tests_have_run(
    assignment: Assignment, tmp_path: Path
) -> None:
    # It notes that it was called, which what is asked for the name must not show to a later test.
    counting = WRONG.replace(
        "    found = text.split()\n", "    CALLS.append(text)\n    found = text.split()\n"
    )
    handout = tmp_path / "handout"
    tests = assignment.public / "tests"
    own = next(tests.glob("test_*.py"))
    own.write_text(own.read_text() + "\n\ndef test_zz_last():\n    assert longest('x y') == 'x'\n")
    release(load_assignment(assignment.root, assignment.name), handout, known_numbers)
    (handout / "words.py").write_text(f"CALLS = []\n\n\n{counting}")
    (handout / "tests" / "test_mine.py").write_text(
        "import words\n\n\ndef test_mine():\n    assert len(words.CALLS) < 20\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=handout, capture_output=True, text=True, timeout=120)
    assert "likely cause: you return the shortest word; the longest is asked for" in done.stdout
    assert "you take the first word alone" not in done.stdout
    assert "tests of your own" not in done.stdout
