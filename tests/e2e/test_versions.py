"""The package at its lowest and at the newest versions, on every Python that is here."""

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
from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import write_class
from tests.e2e import installed
from tests.e2e.installed import Installed, said

ROOT = Path(__file__).resolve().parents[2]
# Further interpreters, parted by colons, where they are not in the PATH under their names.
_MORE = os.environ.get("GRADEFORMER_TEST_PYTHONS", "").split(":")
_NAMED = [shutil.which(f"python3.{minor}") for minor in (12, 13)]
_PYTHONS = [sys.executable, *filter(None, _MORE if any(_MORE) else _NAMED)]

pytestmark = pytest.mark.release


@pytest.mark.parametrize("resolution", ["lowest-direct", "highest"])
@pytest.mark.parametrize("python", [pytest.param(one, id=Path(one).name) for one in _PYTHONS])
def test_everything_a_course_needs(
    wheel: Path, tmp_path: Path, python: str, resolution: str
) -> None:
    if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"{python} CANNOT BE TRIED: it does not start")
    found = installed.install(wheel, tmp_path / "environment", python, resolution, "nbgrader")
    assignment = load_assignment(ROOT, "transformer_block")
    batch = tmp_path / "batch"
    write_class(assignment, ROOT, ROOT / "tests" / "classes" / assignment.name, batch)
    for student, part in (("right", assignment.secret), ("stubs", assignment.public)):
        (batch / student).mkdir()
        for path in part.glob("*.py"):
            shutil.copy(path, batch / student)
    for tier in ("tier1", "tier2", "tier3"):
        _grades_the_class(found, tmp_path, tier)
    _students_run_their_checks(found, tmp_path)
    _proves_a_new_course(found, tmp_path)
    _marks_through_nbgrader(found, tmp_path)


def _grades_the_class(found: Installed, folder: Path, tier: str) -> None:
    out = folder / tier
    command = [
        "grade",
        folder / "batch",
        "--assignment",
        "transformer_block",
        "--root",
        ROOT,
        "--out",
        out,
    ]
    done = found.run(*command, "--sandbox", tier, cwd=folder)
    if done.returncode == 2 and "isolated" in done.stderr:
        print(f"{tier} CANNOT BE TRIED HERE: {done.stderr.strip()}", file=sys.stderr)
        return
    assert done.returncode == 0, done.stdout + done.stderr
    results = [json.loads(path.read_text()) for path in (out / "results").glob("*.json")]
    assert not [one["submission"] for one in results if one["status"] == "error"]
    scores = {one["submission"]: one["score"] for one in results}
    assert len(scores) == len(list((folder / "batch").iterdir()))
    # Correct work in several styles, and none; marks of the others may depend on what is drawn.
    assert {scores[name] for name in ("right", "s01", "s02", "s03")} == {100}
    assert scores["stubs"] == 0


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


def _marks_through_nbgrader(found: Installed, folder: Path) -> None:
    course = folder / "nbgrader"
    done = found.run("course", "init", course, "--root", ROOT, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    # As in an activated environment: nbgrader looks there for alembic.
    paths = f"{found.python.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": paths, "HOME": str(folder), "GRADEFORMER_ROOT": str(ROOT)}
    nbgrader = [found.python, "-m", "nbgrader"]
    said([*nbgrader, "generate_assignment", "transformer_block"], cwd=course, env=environment)
    handed_in = course / "submitted" / "right" / "transformer_block"
    shutil.copytree(course / "release" / "transformer_block", handed_in)
    shutil.copytree(folder / "batch" / "right", handed_in, dirs_exist_ok=True)
    said([*nbgrader, "autograde", "transformer_block"], cwd=course, env=environment)
    result = course / "gradeformer" / "transformer_block" / "results" / "right.json"
    assert json.loads(result.read_text())["score"] == 100


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
