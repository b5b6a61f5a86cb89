"""Gradescope's zip in a tree laid out as theirs, where tier 3 is all that can be had."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.judge.intake import MAX_FILES
from tests import sources, tiny

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="GRADESCOPE'S PROGRAMS RUN AS ROOT")
ROOT = Path(__file__).resolve().parents[2]


class Container:
    """The tree that Gradescope makes of a zip; the step that installs is left out."""

    def __init__(self, base: Path, archive: Path) -> None:
        self.base = base
        for name in ("source", "submission", "results", "gradeformer/venv/bin"):
            (base / name).mkdir(parents=True)
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(base / "source")
        shutil.copy(base / "source" / "run_autograder", base)
        self.python(f'exec {sys.executable} "$@"')

    def python(self, line: str) -> None:
        """Have another program in the place of Python."""
        path = self.base / "gradeformer" / "venv" / "bin" / "python"
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, program: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "tests.bare", "bash", str(self.base / program)]
        environment = {"PATH": os.environ["PATH"], "HOME": "/root", "GRADEFORMER_OFFLINE": "yes"}
        return subprocess.run(
            words,
            cwd=ROOT,
            env={**environment, "GRADEFORMER_BASE": str(self.base)},
            capture_output=True,
            text=True,
            timeout=500,
        )

    def grade(self, files: Mapping[str, str]) -> tuple[dict[str, Any], str]:
        """Grade a submission; return results.json, and what the instructor sees."""
        shutil.rmtree(self.base / "submission")
        (self.base / "submission").mkdir()
        for name, text in files.items():
            (self.base / "submission" / name).write_text(text)
        done = self.run("run_autograder")
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads((self.base / "results" / "results.json").read_text()), done.stdout


@pytest.fixture
def container(tmp_path: Path, autograder) -> Container:
    home = tiny.write_tiny(tmp_path / "home")
    # More wrong work than is taken in, as assignments have it; none of it is needed to grade.
    for number in range(MAX_FILES + 1):
        wrong = home / "reference" / "norm" / "wrong_variants" / "layer_norm" / f"{number}.py"
        wrong.parent.mkdir(parents=True, exist_ok=True)
        wrong.write_text(sources.WRONG)
    out = tmp_path / "autograder.zip"
    done = autograder("ci", "gradescope", "norm", "--root", home, "--out", out)
    assert done.returncode == 0, done.stderr
    again = autograder("ci", "gradescope", "norm", "--root", home, "--out", out)
    assert again.returncode == 2
    assert "exists" in again.stderr
    with zipfile.ZipFile(out) as packed:
        assert not [name for name in packed.namelist() if "variants" in name]
    return Container(tmp_path / "autograder", out)


@pytest.mark.release
def test_submissions_are_graded_on_tier_3(container: Container) -> None:
    done = container.run("source/setup.sh")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tier 3" in done.stdout
    assert (container.base / "source").stat().st_mode & 0o077 == 0
    found, said = container.grade({"layer_norm.py": sources.RIGHT})
    assert "tier 3" in said
    assert found["score"] == 2
    assert {test["status"] for test in found["tests"]} == {"passed"}
    # Reads the solution, or whatever there is; and says nothing that Gradescope would take for its.
    steal = (
        "import pathlib\n"
        f"base = pathlib.Path({str(container.base)!r})\n"
        "try:\n"
        "    (base / 'results' / 'results.json').write_text('{\"score\": 2}')\n"
        "except OSError:\n"
        "    pass\n"
        "raise RuntimeError((base / 'source/project/reference/norm/layer_norm.py').read_text())\n"
    )
    found, _ = container.grade({"layer_norm.py": steal})
    assert found["score"] == 0
    assert "deviation" not in json.dumps(found)
    found, _ = container.grade({})
    assert found["score"] == 0


@pytest.mark.release
def test_a_solution_that_does_not_pass_stops_the_image(container: Container) -> None:
    path = container.base / "source" / "project" / "reference" / "norm" / "layer_norm.py"
    path.write_text(sources.STUB)
    assert container.run("source/setup.sh").returncode != 0


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("kill -9 $$", marks=pytest.mark.release),
        "exit 3",
        pytest.param('case "$*" in *export*) exit 1;; esac', marks=pytest.mark.release),
    ],
)
def test_a_fault_of_the_grader_is_no_mark(container: Container, fault: str) -> None:
    (container.base / "results" / "results.json").write_text('{"score": 2}')
    container.python(f'{fault}\nexec {sys.executable} "$@"')
    found, _ = container.grade({"layer_norm.py": sources.RIGHT})
    assert "score" not in found
    assert "not your fault" in found["output"]
