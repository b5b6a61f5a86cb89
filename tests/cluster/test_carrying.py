"""A submission arrives as intake took it, and whatever intake refuses is refused in its words."""

import gzip
import os
import zipfile
from pathlib import Path

import pytest
from hypothesis import given

from autograder.cluster.carrying import NotRead, NotTaken, laid_out, taken_in
from autograder.judge import intake
from autograder.judge.intake import Rejected, digest, take_in
from tests.judge.test_intake_fuzz import TARS, ZIPS, fuzz
from tests.packing import FILES, make_folder, make_tar, make_zip

MAKERS = [(make_folder, "ada"), (make_zip, "ada.zip"), (make_tar, "ada.tar.gz")]


def arrives(path: Path, folder: Path) -> dict[str, bytes]:
    """What a judge takes in of a submission that has travelled."""
    taken = taken_in(path)
    place = laid_out(taken.files, os.fsencode(path.name), folder)
    assert place.name == path.name
    found = take_in(place)
    assert digest(found) == taken.digest
    return found


@pytest.mark.parametrize(("make", "name"), MAKERS)
def test_what_arrives_is_what_one_machine_takes_in(tmp_path: Path, make, name) -> None:
    noise = {"README.txt": b"hi", ".git/x.py": b"", "data/big.bin": bytes(10_000)}
    path = make(tmp_path / name, {**FILES, **noise, "deep/er/more.py": b"y = 1\n"})
    (tmp_path / "far").mkdir()
    assert arrives(path, tmp_path / "far") == take_in(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("carried")


def check_any(path: Path, folder: Path) -> None:
    far = folder / f"far-{len(list(folder.iterdir()))}"
    far.mkdir()
    try:
        wanted = take_in(path)
    except Rejected as rejection:
        with pytest.raises(NotTaken) as refused:
            taken_in(path)
        assert str(refused.value) == str(rejection)
        assert list(far.iterdir()) == []
    else:
        assert arrives(path, far) == wanted


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


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "layer_norm.py").write_text("the answer")
    for name, target in (("ada", secret), ("bob", secret / "layer_norm.py")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(NotTaken, match="is a link"):
            taken_in(tmp_path / name)
    (tmp_path / "eve").mkdir()
    (tmp_path / "eve" / "layer_norm.py").symlink_to(secret / "layer_norm.py")
    with pytest.raises(NotTaken, match="link"):
        taken_in(tmp_path / "eve")
    (tmp_path / "dan").mkdir()
    (tmp_path / "dan" / "more").symlink_to(secret)
    assert taken_in(tmp_path / "dan").files == {}


def test_a_pipe_a_bomb_and_too_much_are_refused_and_nothing_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "ada.zip")
    make_folder(tmp_path / "bob", {f"m{n}.py": b"" for n in range(intake.MAX_FILES + 1)})
    make_folder(tmp_path / "eve", {"a.py": bytes(intake.MAX_FILE_BYTES + 1)})
    make_zip(tmp_path / "dan.zip", {"big.py": bytes(intake.MAX_FILE_BYTES + 1)})
    for name in ("ada.zip", "bob", "eve", "dan.zip"):
        with pytest.raises(NotTaken):
            taken_in(tmp_path / name)


def test_what_cannot_be_read_here_is_nobodys_zero(tmp_path: Path) -> None:
    with pytest.raises(NotRead, match=r"FileNotFoundError: .* \(\w+\.py, line \d+\)"):
        taken_in(tmp_path / "gone.zip")


def test_a_large_archive_costs_what_is_taken_of_it(tmp_path: Path) -> None:
    """One machine takes three files out of much else; so little is sent."""
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr("layer_norm.py", "x = 1\n")
        archive.writestr("data.bin", bytes(20_000_000))
    assert sum(map(len, taken_in(tmp_path / "ada.zip").files.values())) == 6


@pytest.mark.parametrize("name", ["../x.py", "/etc/x.py", "a/../../x.py", "", "x\0.py"])
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    (tmp_path / "far").mkdir()
    with pytest.raises(ValueError, match="leads out"):
        laid_out({name: b"x"}, b"ada", tmp_path / "far")
    with pytest.raises(ValueError, match="leads out"):
        laid_out({}, os.fsencode(name), tmp_path / "far")
    assert [path.name for path in tmp_path.rglob("*")] == ["far", "ada"]
