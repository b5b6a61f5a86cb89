"""A temporary folder is there while a process holds it; the next run removes what others left."""

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.host import Sandbox
from autograder.sandbox.scratch import HeldFolder, temporary_folder
from tests.conftest import BUDGET


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path


def killed(place: Path, make: str) -> list[Path]:
    """Have a process make folders and be killed; return what it leaves."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        kept = HeldFolder() if make == "folder" else Sandbox(0, BUDGET)
        os.write(there, b"x")
        signal.pause()
        del kept
    assert os.read(here, 1) == b"x"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return list(place.iterdir())


def test_it_is_gone_with_all_that_is_in_it(place: Path) -> None:
    with temporary_folder() as folder:
        assert folder.parent == place
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "closed").mkdir(0o000)
        inner = folder
        for _ in range(30):
            inner /= "deep"
            inner.mkdir()
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("make", ["folder", "sandbox"])
def test_what_a_killed_run_leaves_is_removed_by_the_next(place: Path, make: str) -> None:
    (left,) = killed(place, make)
    assert left.is_dir()
    with temporary_folder() as folder:
        assert list(place.iterdir()) == [folder]


def test_what_somebody_holds_or_calls_otherwise_stays(place: Path) -> None:
    course = place / "gradeformer-course"
    course.mkdir()
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    link = place / f"gradeformer-{7:016x}"
    link.symlink_to(elsewhere)
    with temporary_folder() as first, temporary_folder() as second:
        assert {first, second, course, elsewhere, link} == {*place.iterdir()}


@pytest.mark.skipif(os.geteuid() != 0, reason="ANOTHER ACCOUNT CANNOT BE TRIED HERE: not root")
def test_another_accounts_stays(place: Path) -> None:
    theirs = place / f"gradeformer-{7:016x}"
    theirs.mkdir()
    os.chown(theirs, 1000, 1000)
    with temporary_folder():
        pass
    assert theirs.exists()


def test_who_comes_second_shares_it_and_the_last_removes_it(place: Path) -> None:
    first, second = HeldFolder("0" * 16), HeldFolder("0" * 16)
    assert first.path == second.path
    first.close()
    first.close()
    assert second.path.is_dir()
    second.close()
    assert not second.path.exists()
