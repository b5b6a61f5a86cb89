"""The package at the newest versions, on every Python that is here; `test_wheel` has the lowest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import __version__
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


def test_a_release_is_whole_and_passes_twine(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    tracked = said(["git", "-C", ROOT, "ls-files", "-z", "--cached"]).split("\0")
    for name in filter(None, tracked):
        # Of the project alone, and nothing that an earlier build left.
        if name.startswith("autograder/") or "/" not in name:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    # The wheel is built out of the sdist.
    said([sys.executable, "-m", "build", "--outdir", tmp_path / "dist", source])
    made = sorted((tmp_path / "dist").iterdir())
    assert [path.name for path in made] == [
        f"gradeformer-{__version__}-py3-none-any.whl",
        f"gradeformer-{__version__}.tar.gz",
    ]
    said([sys.executable, "-m", "twine", "check", "--strict", *made])
    packed = set(zipfile.ZipFile(made[0]).namelist())
    kept = {name for name in tracked if name.startswith("autograder/")}
    assert kept <= packed
    assert "autograder/py.typed" in packed
