"""Intake: what is taken in, what is refused, and that nothing leaves the archive."""

import os
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judge import intake
from autograder.judge.intake import Rejected, take_in
from tests.packing import FILES, make_folder, make_tar, make_zip

MAKERS = [
    pytest.param(make_folder, "ada", id="folder"),
    pytest.param(make_zip, "ada.zip", id="zip"),
    pytest.param(make_zip, "ada.ZIP", id="capitals"),
    pytest.param(make_tar, "ada.tgz", id="tgz"),
    pytest.param(make_tar, "ada.tar.gz", id="tar"),
]


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_a_submission_reads_the_same_however_it_is_packed(tmp_path: Path, make, name) -> None:
    noise = {"README.txt": b"hi", ".git/x.py": b"", "__MACOSX/._layer_norm.py": b"junk"}
    assert take_in(make(tmp_path / name, {**FILES, **noise})) == dict(sorted(FILES.items()))


@pytest.mark.parametrize(("make", "name"), MAKERS[1:])
def test_one_top_folder_is_taken_off(tmp_path: Path, make, name) -> None:
    wrapped = {f"my work/{key}": data for key, data in FILES.items()}
    archive = make(tmp_path / name, {**wrapped, "__MACOSX/my work/._a.py": b""})
    assert take_in(archive) == dict(sorted(FILES.items()))


_DEEP = "/" + "a/" * 9 + "x.py"


@pytest.mark.parametrize(("make", "name"), MAKERS[1:])
@pytest.mark.parametrize(
    "bad", ["../x.py", "/etc/x.py", _DEEP, "a/../../x.py", "..\\x.py", "C:\\x.py"]
)
def test_an_entry_that_leads_out_is_refused(tmp_path: Path, make, name, bad) -> None:
    with pytest.raises(Rejected, match="leads out"):
        take_in(make(tmp_path / name, {bad: b"x = 1"}))


def test_links_are_refused_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("the answer")
    folder = tmp_path / "ada"
    folder.mkdir()
    (folder / "layer_norm.py").symlink_to(secret)
    with pytest.raises(Rejected, match="link"):
        take_in(folder)
    (folder / "layer_norm.py").unlink()
    os.mkfifo(folder / "layer_norm.py")
    with pytest.raises(Rejected, match="ordinary file"):
        take_in(folder)
    (folder / "layer_norm.py").unlink()
    (folder / "more").symlink_to(tmp_path)
    assert take_in(folder) == {}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_a_tarball_are_refused(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "ada.tar.gz", "w:gz") as archive:
        entry = tarfile.TarInfo("layer_norm.py")
        entry.type, entry.linkname = kind, "../../reference/layer_norm.py"
        archive.addfile(entry)
    with pytest.raises(Rejected, match="link or device"):
        take_in(tmp_path / "ada.tar.gz")


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        entry = zipfile.ZipInfo("layer_norm.py")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "../secret.py")
    with pytest.raises(Rejected, match="link"):
        take_in(tmp_path / "ada.zip")


@pytest.mark.parametrize(("make", "name"), MAKERS[1:])
def test_a_truncated_archive_is_refused(tmp_path: Path, make, name) -> None:
    archive = make(tmp_path / name, {**FILES, "noise.py": os.urandom(4000)})
    whole = archive.read_bytes()
    for size in range(0, len(whole) - 1, 97):
        archive.write_bytes(whole[:size])
        with pytest.raises(Rejected):
            take_in(archive)


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(data=st.data())
def test_a_damaged_archive_raises_nothing_but_a_rejection(data, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("damaged")
    make, name = data.draw(st.sampled_from([(make_zip, "a.zip"), (make_tar, "a.tar.gz")]))
    whole = bytearray(make(folder / name, FILES).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    (folder / name).write_bytes(whole)
    try:
        found = take_in(folder / name)
    except Rejected:
        return
    assert all(not key.startswith("/") and ".." not in key.split("/") for key in found)


def test_the_digest_tells_names_from_contents() -> None:
    seen = {
        intake.digest(files)
        for files in ({"a": b"bc"}, {"ab": b"c"}, {"a": b"b", "c": b""}, {"a": b"bc", "d": b""})
    }
    assert len(seen) == 4
