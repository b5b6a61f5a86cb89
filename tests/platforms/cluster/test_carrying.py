"""A submission arrives as intake took it."""

import contextlib
import gzip
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given

from autograder.judge.intake import Rejected, digest, take_in
from autograder.platforms.cluster.carrying import laid_out
from tests.judge.test_intake_fuzz import TARS, ZIPS, fuzz
from tests.packing import FILES, make_folder, make_tar, make_zip

MAKERS = [(make_folder, "ada"), (make_zip, "ada.zip"), (make_tar, "ada.tar.gz")]


def check_arrives(path: Path, far: Path) -> None:
    """See that a judge takes the same in of a submission that has travelled."""
    files = take_in(path)
    place = laid_out(files, os.fsencode(path.name), far)
    assert place.name == path.name
    found = take_in(place)
    assert found == files
    assert digest(found) == digest(files)


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_what_arrives_is_what_one_machine_takes_in(tmp_path: Path, make, name) -> None:
    noise = {"README.txt": b"hi", ".git/x.py": b"", "data/big.bin": bytes(10_000)}
    path = make(tmp_path / name, {**FILES, **noise, "deep/er/more.py": b"y = 1\n"})
    (tmp_path / "far").mkdir()
    check_arrives(path, tmp_path / "far")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("carried")


def check_any(path: Path, folder: Path) -> None:
    far = folder / f"far-{len(list(folder.iterdir()))}"
    far.mkdir()
    with contextlib.suppress(Rejected):
        check_arrives(path, far)


@fuzz
@given(whole=ZIPS)
def test_any_zip(folder: Path, whole: bytes) -> None:
    (folder / "a.zip").write_bytes(whole)
    check_any(folder / "a.zip", folder)


@fuzz
@given(whole=TARS)
def test_any_tarball(folder: Path, whole: bytes) -> None:
    (folder / "a.tar.gz").write_bytes(gzip.compress(whole, 1))
    check_any(folder / "a.tar.gz", folder)


def test_a_large_archive_costs_what_is_taken_of_it(tmp_path: Path) -> None:
    """One machine takes three files out of much else; so little is sent."""
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr("layer_norm.py", "x = 1\n")
        archive.writestr("data.bin", bytes(20_000_000))
    assert sum(map(len, take_in(tmp_path / "ada.zip").values())) == 6


@pytest.mark.parametrize("name", ["../x.py", "/etc/x.py", "a/../../x.py"])
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "far").mkdir()
    with pytest.raises(ValueError, match="leads out"):
        laid_out({name: b"x"}, b"ada", tmp_path / "far")
    assert [path.name for path in tmp_path.rglob("*")] == ["far", "ada"]
