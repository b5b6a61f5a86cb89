"""Reading a folder whose owner changes it meanwhile: links lead nowhere, whatever is exchanged."""

import os
import socket
from pathlib import Path

import pytest

from autograder.judge import folders
from autograder.judge.folders import NotOrdinary, TooMany, Wanted, files_in
from autograder.judge.intake import Rejected, take_in

SECRET = "the answer"


def anything(name: str) -> bool:
    return True


def read(place: Path, /, **more: object) -> dict[str, str]:
    """Return what is read of a folder: the text of a file, or why it is not read."""
    wanted = Wanted(**{"file": anything, "folder": anything, "most": 100, **more})  # type: ignore[arg-type]
    return {
        name: str(file) if isinstance(file, NotOrdinary) else file.read().decode()
        for name, file in files_in(place, wanted)
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with one file, beside a secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.py").write_text(SECRET)
    folder = tmp_path / "ada"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "key.py").write_text("mine")
    return folder


def test_only_ordinary_files_are_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = place.parent / "secret"
    (place / "file.py").symlink_to(secret / "key.py")
    (place / "folder").symlink_to(secret)
    (place / "dangling").symlink_to("nowhere")
    os.mkfifo(place / "pipe")
    (place / "twice").write_text("mine")
    os.link(place / "twice", place.parent / "elsewhere")
    # The name of a socket has room for 100 bytes.
    monkeypatch.chdir(place)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
    assert read(place) == {
        "dangling": "is a link",
        "file.py": "is a link",
        "folder": "is a link",
        "inner/key.py": "mine",
        "pipe": "is no ordinary file",
        "socket": "is a socket or a device",
        "twice": "has another name somewhere (a hard link)",
    }


@pytest.mark.skipif(os.name != "posix", reason="NO OWNERS HERE")
def test_files_of_another_account_are_not_read(place: Path) -> None:
    assert read(place, owner=os.geteuid()) == {"inner/key.py": "mine"}
    assert read(place, owner=os.geteuid() + 1) == {"inner/key.py": "belongs to another account"}


def test_a_file_exchanged_for_a_link_after_it_was_listed_is_not_followed(place: Path) -> None:
    def exchange(name: str) -> bool:
        (place / "inner" / "key.py").unlink()
        (place / "inner" / "key.py").symlink_to(place.parent / "secret" / "key.py")
        return True

    assert read(place, file=exchange) == {"inner/key.py": "is a link"}


def test_a_folder_exchanged_for_a_link_after_it_was_listed_is_not_entered(place: Path) -> None:
    def exchange(name: str) -> bool:
        (place / "inner").rename(place.parent / "was")
        (place / "inner").symlink_to(place.parent / "secret")
        return True

    assert read(place, folder=exchange) == {"inner": "was exchanged for a link or a file"}


def test_a_folder_exchanged_while_it_is_read_leads_nowhere_else(place: Path) -> None:
    (place / "inner" / "more.py").write_text("mine too")

    def exchange(name: str) -> bool:
        if name == "inner/more.py":
            (place / "inner").rename(place.parent / "was")
            (place / "inner").symlink_to(place.parent / "secret")
        return True

    assert read(place, file=exchange) == {"inner/key.py": "mine", "inner/more.py": "mine too"}


def test_a_link_in_the_folders_own_place_is_refused(place: Path) -> None:
    link = place.parent / "link"
    link.symlink_to(place)
    with pytest.raises(OSError):
        read(link)


def test_entries_are_counted_over_all_folders(place: Path) -> None:
    (place / "inner" / "more").mkdir()
    assert read(place, most=3) == {"inner/key.py": "mine"}
    with pytest.raises(TooMany):
        read(place, most=2)


def test_what_is_not_wanted_is_neither_opened_nor_named(place: Path) -> None:
    os.mkfifo(place / "pipe")
    (place / "link").symlink_to(place.parent)
    assert read(place, file=lambda name: name.endswith(".py")) == {"inner/key.py": "mine"}
    assert read(place, folder=lambda name: False, file=lambda name: name == "link") == {
        "link": "is a link"
    }


def test_without_descriptors_links_are_looked_for(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "BY_DESCRIPTOR", False)
    # As on Windows, where it is unknown and a link would be followed.
    monkeypatch.setattr(folders, "_READ", os.O_RDONLY)
    (place / "file.py").symlink_to(place.parent / "secret" / "key.py")
    (place / "folder").symlink_to(place.parent / "secret")
    assert read(place) == {
        "file.py": "is a link",
        "folder": "is a link",
        "inner/key.py": "mine",
    }


def test_intake_refuses_a_hard_link(place: Path) -> None:
    os.link(place.parent / "secret" / "key.py", place / "layer_norm.py")
    with pytest.raises(Rejected, match=r"layer_norm.py has another name .*hard link.*; hand in"):
        take_in(place)
    (place / "layer_norm.py").rename(place / "layer_norm.txt")
    assert take_in(place) == {"inner/key.py": b"mine"}
