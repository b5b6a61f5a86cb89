"""The entries of a batch: whose they are, where their files lie, and what is no entry."""

import os
from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.grading.entries import discover, single
from autograder.judge.intake import Rejected, take_in
from tests.packing import FILES, make_folder, make_tar, make_zip


def test_the_entries_of_a_batch(tmp_path: Path) -> None:
    make_folder(tmp_path / "s02", FILES)
    make_zip(tmp_path / "s01.zip", FILES)
    make_tar(tmp_path / "s03.tar.gz", FILES)
    make_zip(tmp_path / "s06.ZIP", FILES)
    make_tar(tmp_path / "s07.Tgz", FILES)
    for name in (".DS_Store", "s04.rar", "notes.txt", "class.csv", "s05.py"):
        (tmp_path / name).write_text("")
    listing = discover(tmp_path, "norm")
    ids = ["s01", "s02", "s03", "s04.rar", "s05.py", "s06", "s07"]
    assert [entry.id for entry in listing.entries] == ids
    # Who handed in the wrong kind of file has a mark, and a reason; a list of the class has none.
    assert listing.ignored == ["class.csv", "notes.txt"]
    with pytest.raises(Rejected, match=r"s04.rar is no folder, \.zip or \.tar\.gz"):
        take_in(tmp_path / "s04.rar")


def test_the_submitted_folder_of_nbgrader_is_a_batch(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01" / "norm", FILES)
    (tmp_path / "s01" / "norm" / "timestamp.txt").write_text("2026-01-01")
    make_folder(tmp_path / "bob" / "other", FILES)
    entries = {entry.id: entry.path for entry in discover(tmp_path, "norm").entries}
    assert take_in(entries["s01"]) == dict(sorted(FILES.items()))
    assert "layer_norm.py" not in take_in(entries["bob"])


def test_two_entries_of_one_student_are_named_and_the_others_are_graded(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01", FILES)
    make_zip(tmp_path / "s01.zip", FILES)
    make_folder(tmp_path / "s02", FILES)
    listing = discover(tmp_path, "norm")
    assert [entry.id for entry in listing.entries] == ["s02"]
    assert listing.doubled == {"s01": ["s01", "s01.zip"]}


def test_what_is_no_batch_is_refused_with_what_to_type(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere does not exist: give the folder that holds"):
        discover(tmp_path / "nowhere", "norm")
    batch = tmp_path / "batch"
    batch.mkdir()
    with pytest.raises(UsageError, match="batch is empty"):
        discover(batch, "norm")
    (batch / "notes.txt").write_text("")
    with pytest.raises(UsageError, match=r"holds no submission, but notes\.txt: give"):
        discover(batch, "norm")
    make_zip(tmp_path / "s01.zip", FILES)
    with pytest.raises(UsageError, match=r"is a file: .* with --one it is graded"):
        discover(tmp_path / "s01.zip", "norm")
    make_folder(tmp_path / "s01", FILES)
    typed = r"type `autograder grade .*s01 --one --assignment norm`"
    with pytest.raises(UsageError, match=rf"holds layer_norm\.py, so it is one .*{typed}"):
        discover(tmp_path / "s01", "norm", ["layer_norm"])


def test_one_submission_is_an_entry_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder(tmp_path / "s01", FILES)
    make_zip(tmp_path / "s02.zip", FILES)
    make_folder(tmp_path / "submitted" / "s03" / "norm", FILES)
    for path in ("s01", "s02.zip", "submitted/s03"):
        entry = single(tmp_path / path, "norm", ["layer_norm"])
        assert entry.id == Path(path).name.removesuffix(".zip")
        assert "layer_norm.py" in take_in(entry.path)
    monkeypatch.chdir(tmp_path / "s01")
    assert single(Path("."), "norm", ["layer_norm"]).id == "s01"
    with pytest.raises(UsageError, match="nowhere does not exist"):
        single(tmp_path / "nowhere", "norm", ["layer_norm"])
    (tmp_path / "s02.zip").unlink()
    with pytest.raises(UsageError, match="holds submissions, s01 among them: leave out --one"):
        single(tmp_path, "norm", ["layer_norm"])


def test_odd_names_become_ids_that_every_file_can_hold(tmp_path: Path) -> None:
    for name in (b"\xff\xfe", b"new\nline", "ü".encode()):
        os.mkdir(os.fsencode(tmp_path) + b"/" + name)
    assert {entry.id for entry in discover(tmp_path, "norm").entries} == {
        "\\xff\\xfe",
        "new\\nline",
        "ü",
    }


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\x7f", "\u202e", "\u2066"])
def test_what_a_terminal_acts_on_is_written_out_in_an_id(tmp_path: Path, character: str) -> None:
    (tmp_path / f"a{character}[31mb").mkdir()
    (entry,) = discover(tmp_path, "norm").entries
    assert character not in entry.id
    assert entry.id.isprintable()
    assert entry.id.startswith("a\\") and entry.id.endswith("[31mb")


def test_a_long_name_is_cut_and_nobody_else_pays_for_it(tmp_path: Path) -> None:
    for name in ("s01", "a" * 250, "a" * 249 + "b", "ü" * 125):
        (tmp_path / name).mkdir()
    ids = [entry.id for entry in discover(tmp_path, "norm").entries]
    assert len(set(ids)) == 4
    assert "s01" in ids
    assert all(len(name.encode()) <= 240 for name in ids)
    # The same name has the same id again, beside whatever others.
    assert single(tmp_path / ("a" * 250), "norm", []).id in ids


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
    entries = {entry.id: entry.path for entry in discover(batch, "norm").entries}
    assert take_in(entries["s01"]) == dict(sorted(FILES.items()))
    with pytest.raises(Rejected, match="eve is a link; hand in the folder or archive itself"):
        take_in(entries["eve"])


def test_a_link_to_a_folder_without_files_on_top_is_no_way_into_it(tmp_path: Path) -> None:
    # Without the link it would be nbgrader's folder of a student, which is entered.
    make_folder(tmp_path / "elsewhere" / "norm", FILES)
    batch = tmp_path / "batch"
    batch.mkdir()
    (batch / "eve").symlink_to(tmp_path / "elsewhere")
    for entry in (*discover(batch, "norm").entries, single(batch / "eve", "norm", [])):
        assert (entry.id, entry.path) == ("eve", batch / "eve")
        with pytest.raises(Rejected, match="eve is a link"):
            take_in(entry.path)


def test_a_link_in_the_place_of_the_assignments_folder_is_no_way_into_it(tmp_path: Path) -> None:
    make_folder(tmp_path / "elsewhere", FILES)
    eve = tmp_path / "batch" / "eve"
    eve.mkdir(parents=True)
    (eve / "norm").symlink_to(tmp_path / "elsewhere")
    (entry,) = discover(tmp_path / "batch", "norm").entries
    assert entry.path == eve
    assert take_in(entry.path) == {}


def test_files_beside_a_folder_of_the_assignments_name_are_the_submission(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01", {"layer_norm.py": b"mine"})
    make_folder(tmp_path / "s01" / "norm", {"layer_norm.py": b"old"})
    (entry,) = discover(tmp_path, "norm").entries
    assert take_in(entry.path)["layer_norm.py"] == b"mine"


@pytest.mark.parametrize("name", ["s01.tar", "s01.tar.xz", "s01.ipynb", "s01.7Z", "s01.RAR"])
def test_what_a_student_packed_in_another_way_is_rejected_and_not_passed_over(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(b"")
    (entry,) = discover(tmp_path, "norm").entries
    assert entry.id == name
    with pytest.raises(Rejected, match=f"{name} is no folder"):
        take_in(entry.path)


def test_all_that_have_one_id_are_named_in_the_order_of_ids(tmp_path: Path) -> None:
    for name in ("s1.zip", "s1.tar.gz", "s1-b.zip", "s1-b.tar.gz", "s1-c.zip", "s1-a", "s0"):
        (tmp_path / name).mkdir() if "." not in name else (tmp_path / name).write_bytes(b"")
    (tmp_path / "s1").mkdir()
    listing = discover(tmp_path, "norm")
    assert [entry.id for entry in listing.entries] == ["s0", "s1-a", "s1-c"]
    # As an id the shorter one is first; as a file's name it would be the last.
    assert list(listing.doubled.items()) == [
        ("s1", ["s1", "s1.tar.gz", "s1.zip"]),
        ("s1-b", ["s1-b.tar.gz", "s1-b.zip"]),
    ]


def test_entries_are_in_the_order_of_their_ids(tmp_path: Path) -> None:
    for name in ("s1.zip", "s1-b.zip"):
        (tmp_path / name).write_bytes(b"")
    assert [entry.id for entry in discover(tmp_path, "norm").entries] == ["s1", "s1-b"]


def test_what_a_mac_leaves_beside_the_work_is_no_entry(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01", FILES)
    make_folder(tmp_path / "__MACOSX" / "s01", FILES)
    make_folder(tmp_path / ".hidden", FILES)
    listing = discover(tmp_path, "norm")
    assert [entry.id for entry in listing.entries] == ["s01"]
    assert listing.ignored == []


def test_a_folder_keeps_what_looks_like_an_archives_suffix(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01.zip", FILES)
    (tmp_path / "s02.tar.gz").symlink_to(tmp_path / "nowhere")
    assert [entry.id for entry in discover(tmp_path, "norm").entries] == ["s01.zip", "s02"]


def test_of_one_submission_that_is_a_link_to_nothing_a_mark_is_the_answer(tmp_path: Path) -> None:
    (tmp_path / "s01").symlink_to(tmp_path / "nowhere")
    entry = single(tmp_path / "s01", "norm", ["layer_norm"])
    with pytest.raises(Rejected, match="s01 is a link"):
        take_in(entry.path)


def test_one_submission_may_hold_an_older_one(tmp_path: Path) -> None:
    make_folder(tmp_path / "s01", FILES)
    make_folder(tmp_path / "s01" / "old", FILES)
    assert single(tmp_path / "s01", "norm", ["layer_norm"]).path == tmp_path / "s01"
