"""The package at the newest versions, on every Python that is here; `test_wheel` has the lowest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import installed
from tests.e2e.installed import Installed, said

ROOT = Path(__file__).resolve().parents[2]
# Further interpreters, parted by colons, where they are not in the PATH under their names.
_MORE = os.environ.get("GRADEFORMER_TEST_PYTHONS", "").split(":")
_NAMED = [shutil.which(f"python3.{minor}") for minor in (12, 13)]
_NEWEST = [pytest.param(sys.executable, "highest", id="here-highest")]
_OTHERS = [
    pytest.param(python, resolution, id=f"{Path(python).name}-{resolution}")
    for python in filter(None, _MORE if any(_MORE) else _NAMED)
    for resolution in ("lowest-direct", "highest")
]

pytestmark = pytest.mark.release


@pytest.mark.parametrize(("python", "resolution"), [*_NEWEST, *_OTHERS])
def test_everything_a_course_needs(
    wheel: Path, tmp_path: Path, python: str, resolution: str
) -> None:
    if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} CANNOT BE TRIED: it does not start")
    found = installed.install(wheel, tmp_path / "environment", python, resolution)
    for tier in ("tier1", "tier2", "tier3"):
        _grades_the_class(found, tmp_path, tier)
    _students_run_their_checks(found, tmp_path)
    _proves_a_new_course(found, tmp_path)


def _grades_the_class(found: Installed, folder: Path, tier: str) -> None:
    out = folder / tier
    batch = folder / "batch"
    if not batch.is_dir():
        for student, part in (("right", "reference"), ("stubs", "assignments")):
            (batch / student).mkdir(parents=True)
            for path in (ROOT / part / "transformer_block").glob("*.py"):
                shutil.copy(path, batch / student)
    command = ["grade", batch, "--assignment", "transformer_block", "--root", ROOT, "--out", out]
    done = found.run(*command, "--sandbox", tier, cwd=folder)
    if done.returncode == 2 and "isolated" in done.stderr:
        print(f"{tier} CANNOT BE TRIED HERE: {done.stderr.strip()}", file=sys.stderr)
        return
    assert done.returncode == 0, done.stdout + done.stderr
    scores = {
        path.stem: json.loads(path.read_text())["score"]
        for path in (out / "results").glob("*.json")
    }
    assert scores == {"right": 100, "stubs": 0}


def _students_run_their_checks(found: Installed, folder: Path) -> None:
    out = folder / "handout"
    done = found.run("release", "transformer_block", "--root", ROOT, "--out", out, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy(ROOT / "reference" / "transformer_block" / "layer_norm.py", out)
    output = said([found.python, "-m", "pytest", "-q", "tests/test_layer_norm.py"], cwd=out)
    assert "11 of 11 public points" in output


def _proves_a_new_course(found: Installed, folder: Path) -> None:
    course = folder / "course"
    assert found.run("new", course, cwd=folder).returncode == 0
    done = found.run("selftest", "first_steps", "--root", course, cwd=folder)
    assert "first_steps: the suites hold" in done.stdout, done.stdout + done.stderr
