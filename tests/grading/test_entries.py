"""The entries of a batch: whose they are, where their files lie, and what is no entry."""

import os
from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.grading.entries import discover
from autograder.judge.intake import Rejected, take_in
from tests.packing import FILES, make_folder, make_tar, make_zip


def test_the_entries_of_a_batch(tmp_path: Path) -> None:
    make_folder(tmp_path / "s02", FILES)
    make_zip(tmp_path / "s01.zip", FILES)
    make_tar(tmp_path / "s03.tar.gz", FILES)
    (tmp_path / ".DS_Store").write_text("")
    (tmp_path / "s04.rar").write_text("")
    assert [entry.id for entry in discover(tmp_path, "norm")] == ["s01", "s02", "s03", "s04.rar"]
    with pytest.raises(Rejected, match=r"s04.rar is no folder, \.zip or \.tar\.gz"):
        take_in(tmp_path / "s04.rar")


def test_the_submitted_folder_of_nbgrader_is_a_batch(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01" / "norm", FILES)
    (tmp_path / "s01" / "norm" / "timestamp.txt").write_text("2026-01-01")
    make_folder(tmp_path / "bob" / "other", FILES)
    entries = {entry.id: entry.path for entry in discover(tmp_path, "norm")}
    assert take_in(entries["s01"]) == dict(sorted(FILES.items()))
    assert "layer_norm.py" not in take_in(entries["bob"])


def test_two_entries_of_one_student_name_both(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01", FILES)
    make_zip(tmp_path / "s01.zip", FILES)
    with pytest.raises(UsageError, match=r"s01 and s01\.zip .* both of 's01'"):
        discover(tmp_path, "norm")


def test_odd_names_become_ids_that_every_file_can_hold(tmp_path: Path) -> None:
    for name in (b"\xff\xfe", b"new\nline", "ü".encode()):
        os.mkdir(os.fsencode(tmp_path) + b"/" + name)
    assert {entry.id for entry in discover(tmp_path, "norm")} == {"\\xff\\xfe", "new\nline", "ü"}
    (tmp_path / ("a" * 250)).mkdir()
    with pytest.raises(UsageError, match="longer than 240 bytes"):
        discover(tmp_path, "norm")


@pytest.mark.parametrize("target", ["elsewhere", "archive.zip", "nowhere", "."])
def test_a_link_in_place_of_an_entry_is_rejected_and_the_others_are_not(
    tmp_path: Path, target: str
) -> None:
    make_folder(tmp_path / "elsewhere", FILES)
    # What it leads to looks as nbgrader's folder of a student does, too.
    make_folder(tmp_path / "elsewhere" / "norm", FILES)
    make_zip(tmp_path / "archive.zip", FILES)
    batch = tmp_path / "batch"
    make_folder(batch / "s01", FILES)
    (batch / "eve").symlink_to(tmp_path / target)
    entries = {entry.id: entry.path for entry in discover(batch, "norm")}
    assert take_in(entries["s01"]) == dict(sorted(FILES.items()))
    with pytest.raises(Rejected, match="eve is a link; hand in the folder or archive itself"):
        take_in(entries["eve"])
