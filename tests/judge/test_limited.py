"""Reading an archive ends: in time, in memory, and with what reading it in this process gives."""

from __future__ import annotations

import errno
import gzip
import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judge import limited
from autograder.judge.intake import Rejected, take_in
from autograder.judge.limited import take_in_limited
from tests.packing import FILES, make_folder, make_tar, make_zip

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="THERE ARE NO SUCH LIMITS")


@pytest.mark.parametrize("name", ["ada", "ada.zip", "ada.tar.gz"])
def test_what_is_taken_in_is_the_same_in_a_program_of_its_own(tmp_path: Path, name: str) -> None:
    make = {"ada": make_folder, "ada.zip": make_zip, "ada.tar.gz": make_tar}[name]
    path = make(tmp_path / name, FILES)
    assert take_in_limited(path).files == take_in(path) == dict(sorted(FILES.items()))


def test_a_rejection_has_the_same_words(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "ada.zip", {"../x.py": b"x"})
    with pytest.raises(Rejected, match="leads out") as here:
        take_in(path)
    with pytest.raises(Rejected) as there:
        take_in_limited(path)
    assert str(there.value) == str(here.value)


def digits(path: Path, count: int) -> Path:
    """Write a tarball with a header of digits, which some versions of Python search long."""
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = tarfile.XHDTYPE, count
    plain = io.BytesIO(entry.tobuf() + b"1" * count + bytes(-count % 512) + bytes(1024))
    path.write_bytes(gzip.compress(plain.getvalue()))
    return path


def taking(monkeypatch: pytest.MonkeyPatch, taken: str) -> None:
    """Have the program take something else in than the archive; `taken` is a function's text."""
    last = "main(*sys.argv[1:])"
    other = f"import autograder.judge.limited as m; m.taken = {taken}; {last}"
    monkeypatch.setattr(limited, "_PROGRAM", limited._PROGRAM.replace(last, other))


def test_an_archive_that_takes_too_long_is_rejected_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited, "CPU_S", 1)
    # A program that reads without end, in the place of a version of Python that does.
    taking(monkeypatch, "lambda *_: list(iter(int, 1))")
    with pytest.raises(Rejected, match=r"^ada\.zip takes more than 1 s to read; pack the"):
        take_in_limited(make_zip(tmp_path / "ada.zip", FILES))


def test_an_archive_that_takes_too_much_memory_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taking(monkeypatch, "lambda *_: bytearray(1 << 30)")
    with pytest.raises(Rejected, match=r"^ada\.zip takes too much memory to read"):
        take_in_limited(make_zip(tmp_path / "ada.zip", FILES))


def test_an_archive_that_takes_too_long_for_no_fault_of_its_own_is_no_rejection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To start a program takes longer than this.
    monkeypatch.setattr(limited, "WALL_S", 0)
    with pytest.raises(TimeoutError, match="it cannot be read within 0 s") as late:
        take_in_limited(make_zip(tmp_path / "ada.zip", FILES))
    assert late.value.errno == errno.ETIMEDOUT


def test_reading_may_take_so_much_and_no_more() -> None:
    assert (limited.CPU_S, limited.WALL_S, limited.MEMORY) == (20, 300, 512 << 20)


@pytest.mark.parametrize("size", [8_000_000, 8_000_001])
def test_of_the_program_no_more_is_taken_than_of_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    taking(monkeypatch, f"lambda *_: ({{'a.py': bytes({size})}}, {{}})")
    path = make_zip(tmp_path / "ada.zip", FILES)
    if size == 8_000_000:
        assert take_in_limited(path).files == {"a.py": bytes(size)}
    else:
        with pytest.raises(OSError, match="None"):
            take_in_limited(path)


def test_headers_of_digits_are_refused_before_they_are_searched(tmp_path: Path) -> None:
    for count in (1000, 250_000):
        with pytest.raises(Rejected, match="a header of nothing but digits"):
            take_in(digits(tmp_path / "ada.tar.gz", count))
    pi = {"layer_norm.py": b"PI = " + b"31" * 5000}
    assert take_in(make_tar(tmp_path / "bob.tar.gz", pi)) == pi


def test_what_is_no_fault_of_the_submission_is_no_rejection(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        take_in_limited(tmp_path / "gone.zip")


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ada.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"a{number}.py", b"x = 1\n" * 1000)
        for entry in archive.infolist()[1:]:
            entry.header_offset = archive.infolist()[0].header_offset
    with pytest.raises(Rejected, match=r"entries of ada\.zip overlap"):
        take_in(path)


def test_an_entry_within_the_data_of_another_overlaps_it(tmp_path: Path) -> None:
    inner, path = make_zip(tmp_path / "inner.zip", {"a1.py": b"x = 1\n"}), tmp_path / "ada.zip"
    with zipfile.ZipFile(inner) as archive:
        (entry,) = archive.infolist()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a0.py", inner.read_bytes())
        # Behind the header of the other and its name.
        entry.header_offset = 30 + len("a0.py")
        archive.infolist().append(entry)
    with zipfile.ZipFile(path) as archive:
        assert archive.read("a1.py") == b"x = 1\n"
    with pytest.raises(Rejected, match=r"entries of ada\.zip overlap"):
        take_in(path)


PARTS = st.text(st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="/\\"))
NAMES = st.lists(
    st.one_of(PARTS, st.sampled_from(["own", "..x", ".git", "a.py", "C:", "b.py:Zone.Identifier"])),
    min_size=1,
    max_size=3,
).map(lambda parts: "/".join(part.strip() for part in parts))


def packable(name: str) -> bool:
    """Tell whether a folder can hold a name, which means another drive on no system."""
    parts = name.split("/")
    fine = all(part not in ("", ".", "..") and len(part.encode()) < 200 for part in parts)
    return fine and name[1:2] != ":"


@settings(max_examples=60)
@given(names=st.sets(st.one_of(NAMES, NAMES.map("{}.py".format)).filter(packable), max_size=5))
def test_a_folder_and_an_archive_of_the_same_files_come_out_the_same(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    names = {n for n in names if not any(o != n and o.startswith(f"{n}/") for o in names)}
    # Beside files of one's own, so that there is no top folder to be taken off.
    files = {name: name.encode() for name in names} | {"layer_norm.py": b"1"}
    place = tmp_path_factory.mktemp("same")
    there = take_in(make_folder(place / "ada", files))
    assert take_in(make_zip(place / "ada.zip", files)) == there
    assert take_in(make_tar(place / "ada.tar.gz", files)) == there
