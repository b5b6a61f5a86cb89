"""An assignment arrives whole, for its owner alone, or not at all."""

import os
import stat
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.cluster import bundles
from autograder.cluster.bundles import packed, unpacked
from autograder.errors import UsageError
from autograder.solutions.places import CACHE_VARIABLE
from tests.conftest import ROOT
from tests.tiny import write_tiny


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where it arrives; whatever is made here is open to all, if nobody sees to it."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv(CACHE_VARIABLE, str(folder))
    before = os.umask(0)
    yield folder
    os.umask(before)


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path / "project"), "norm")


@pytest.mark.parametrize("name", ["transformer_block", "language_model"])
def test_marks_are_decided_by_the_same_there(name: str, cache: Path) -> None:
    here = load_assignment(ROOT, name)
    there = load_assignment(unpacked(packed(here)), name)
    assert there.suite_hash() == here.suite_hash()
    assert there.provided() == here.provided()
    assert dict(there.deciding()) == dict(here.deciding())
    for folder in ("workbook", "right_variants", "wrong_variants"):
        assert not (there.secret / folder).exists()


def test_what_lies_beside_a_test_travels(assignment: Assignment, cache: Path) -> None:
    (assignment.secret / "tests" / "table.npz").write_bytes(b"\0\1")
    (assignment.secret / "tests" / "__pycache__").mkdir()
    (assignment.secret / "tests" / "__pycache__" / "x.pyc").write_bytes(b"old")
    there = load_assignment(unpacked(packed(assignment)), "norm")
    assert (there.secret / "tests" / "table.npz").read_bytes() == b"\0\1"
    assert not (there.secret / "tests" / "__pycache__").exists()


def test_nobody_else_can_read_any_of_it(assignment: Assignment, cache: Path) -> None:
    unpacked(packed(assignment))
    found = list(cache.rglob("*"))
    assert len(found) > 6
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_place_that_was_opened_up_is_closed(assignment: Assignment, cache: Path) -> None:
    place = unpacked(packed(assignment))
    place.parent.chmod(0o777)
    assert unpacked(packed(assignment)) == place
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("value", ["off", "open"])
def test_without_a_private_folder_nothing_is_written(
    value: str, assignment: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    monkeypatch.setenv(CACHE_VARIABLE, "off" if value == "off" else str(tmp_path / "open"))
    with pytest.raises(UsageError, match="set GRADEFORMER_CACHE to one with mode 700"):
        unpacked(packed(assignment))
    assert list((tmp_path / "open").iterdir()) == []


def test_the_same_assignment_is_written_once(assignment: Assignment, cache: Path) -> None:
    place = unpacked(packed(assignment))
    before = {path: path.stat().st_ino for path in place.rglob("*")}
    (place / "reference" / "norm" / "__pycache__").mkdir()
    assert packed(assignment) == packed(assignment)
    assert unpacked(packed(assignment)) == place
    assert {path: path.stat().st_ino for path in before} == before


@pytest.mark.parametrize("damage", ["changed", "removed", "added"])
def test_what_is_damaged_there_is_written_anew(
    damage: str, assignment: Assignment, cache: Path
) -> None:
    place = unpacked(packed(assignment))
    hidden = place / "reference" / "norm" / "tests" / "test_layer_norm.py"
    if damage == "changed":
        hidden.write_text("pass\n")
    elif damage == "removed":
        hidden.unlink()
    else:
        hidden.with_name("conftest.py").write_text("pass\n")
    assert unpacked(packed(assignment)) == place
    there = load_assignment(place, "norm")
    assert there.suite_hash() == assignment.suite_hash()
    assert [path.name for path in cache.joinpath("assignments").iterdir()] == [place.name]


def test_a_write_that_ends_in_the_middle_leaves_nothing(
    assignment: Assignment, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(bundles.Path, "rename", full)
        with pytest.raises(OSError, match="No space"):
            unpacked(packed(assignment))
    assert list((cache / "assignments").iterdir()) == []
    assert load_assignment(unpacked(packed(assignment)), "norm").totals == assignment.totals


def test_several_that_write_at_once_all_find_it(assignment: Assignment, cache: Path) -> None:
    bundle, found = packed(assignment), []
    start = threading.Barrier(6)

    def write() -> None:
        start.wait(60)
        found.append(unpacked(bundle))

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert [path.name for path in (cache / "assignments").iterdir()] == [bundle.digest]


def test_bytes_that_are_not_those_of_the_hash_are_refused(
    assignment: Assignment, cache: Path
) -> None:
    bundle = packed(assignment)
    with pytest.raises(UsageError, match="arrived damaged"):
        unpacked(replace(bundle, data=bundle.data[:-1] + b"x"))
    assert not (cache / "assignments").exists()


def test_what_was_not_used_for_weeks_goes(assignment: Assignment, cache: Path) -> None:
    old = unpacked(packed(assignment))
    (assignment.public / "README.md").write_text("more\n")
    os.utime(old, (0, 0))
    new = unpacked(packed(assignment))
    assert [path.name for path in new.parent.iterdir()] == [new.name]


def test_far_too_much_is_one_sentence(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundles, "MOST_BYTES", 100)
    with pytest.raises(UsageError, match="norm has more than 100 bytes"):
        packed(assignment)


def test_what_was_used_within_two_weeks_stays_and_use_is_noted(
    assignment: Assignment, cache: Path
) -> None:
    bundle = packed(assignment)
    place = unpacked(bundle)
    others = {days: place.parent / f"used{days}" for days in (13, 15)}
    now = place.stat().st_mtime
    for days, folder in others.items():
        folder.mkdir()
        os.utime(folder, (now, now - days * 24 * 3600))
    os.utime(place, (0, 0))
    assert unpacked(bundle) == place
    assert place.stat().st_mtime >= now
    assert {path.name for path in place.parent.iterdir()} == {place.name, "used13"}


def test_both_folders_arrive_though_one_of_them_is_empty(
    assignment: Assignment, cache: Path
) -> None:
    for path in sorted(assignment.secret.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    place = unpacked(packed(assignment))
    assert (place / "reference" / "norm").is_dir()
    assert list((place / "reference" / "norm").iterdir()) == []
