"""An assignment arrives whole, for its owner alone; a worker with other versions is named."""

import os
import stat
from pathlib import Path

import pytest

from autograder import __version__
from autograder.assignment import Assignment, load_assignment
from autograder.platforms.cluster.carrying import difference, packed, recorded, unpacked
from tests.conftest import ROOT
from tests.tiny import write_tiny

HERE = {"python": "3.11.7", "torch": "2.13.0", "gradeformer": __version__}


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path / "project"), "norm")


def arrived(assignment: Assignment, place: Path) -> Assignment:
    return load_assignment(unpacked(packed(assignment), place), assignment.name)


@pytest.mark.parametrize("name", ["transformer_block", "language_model"])
def test_marks_are_decided_by_the_same_there(name: str, tmp_path: Path) -> None:
    here = load_assignment(ROOT, name)
    there = arrived(here, tmp_path / "far")
    assert there.suite_hash() == here.suite_hash()
    assert there.provided() == here.provided()
    assert dict(there.deciding()) == dict(here.deciding())
    for folder in ("workbook", "right_variants", "wrong_variants"):
        assert not (there.secret / folder).exists()


def test_what_lies_beside_a_test_travels(assignment: Assignment, tmp_path: Path) -> None:
    (assignment.secret / "tests" / "table.npz").write_bytes(b"\0\1")
    (assignment.secret / "tests" / "__pycache__").mkdir()
    (assignment.secret / "tests" / "__pycache__" / "x.pyc").write_bytes(b"old")
    there = arrived(assignment, tmp_path / "far")
    assert (there.secret / "tests" / "table.npz").read_bytes() == b"\0\1"
    assert not (there.secret / "tests" / "__pycache__").exists()


def test_nobody_else_can_open_where_it_lies(assignment: Assignment, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        place = unpacked(packed(assignment), tmp_path / "far")
    finally:
        os.umask(before)
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_both_folders_arrive_though_one_of_them_is_empty(
    assignment: Assignment, tmp_path: Path
) -> None:
    for path in sorted(assignment.secret.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place = unpacked(packed(assignment), tmp_path / "far")
    assert (place / "reference" / "norm").is_dir()
    assert list((place / "reference" / "norm").iterdir()) == []


def test_what_is_recorded_in_results_is_compared_and_our_own_version() -> None:
    found = recorded(["einops"])
    assert set(found) == {
        *("python", "torch", "numpy", "pytest", "hypothesis", "einops", "gradeformer")
    }
    assert found["gradeformer"] == __version__


@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("torch", "2.12.0", "it has torch 2.12.0, and this machine has 2.13.0"),
        ("torch", "2.13.0+cu", "pip install torch==2.13.0 there"),
        ("torch", "unknown", "it has no torch"),
        ("python", "3.12.0", "start the worker with Python 3.11.7"),
        ("gradeformer", "0.0.1", f"pip install gradeformer=={__version__} there"),
    ],
)
def test_a_version_that_differs_is_a_sentence(name: str, there: str, said: str) -> None:
    found = difference({**HERE, name: there}, HERE)
    assert found is not None
    assert said in found


def test_versions_that_are_the_same_are_nothing_to_say() -> None:
    assert difference(HERE, HERE) is None
    # A package that no installer knows of, on either side.
    assert difference({"mine": "unknown"}, {"mine": "unknown"}) is None
