"""Reading a folder that somebody else can write to, and may change while it is read.

Every name is opened inside a folder that is open already, without following a link, and what was
opened is judged: names that are exchanged meanwhile lead nowhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

# Not on Windows. There, links are looked for before a file is opened, which is not as safe.
BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
# A named pipe would wait for somebody to write.
_READ = os.O_RDONLY
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _READ |= getattr(os, _flag, 0)
_WHY = {
    errno.ELOOP: "is a link",
    errno.ENOTDIR: "was exchanged for a link or a file",
    errno.ENXIO: "is a socket or a device",
    # As macOS calls a socket.
    errno.EOPNOTSUPP: "is a socket or a device",
}


class TooMany(Exception):
    """A folder holds more entries than are looked at."""


class NotOrdinary(Exception):
    """What is not read, and why: "is a link"."""


@dataclass
class Wanted:
    """What is read of a folder.

    Args:
        file: whether a file is opened, by its path; so are links, pipes and sockets.
        folder: whether a folder is entered, by its path.
        most: how many entries are looked at, in all.
        owner: the account that the files have to belong to; None for any.
    """

    file: Callable[[str], bool]
    folder: Callable[[str], bool]
    most: int
    owner: int | None = None


def files_in(folder: Path | int, wanted: Wanted) -> Iterator[tuple[str, BinaryIO | NotOrdinary]]:
    """Yield the files of a folder by relative POSIX path, or why one is not read.

    A file is open until the next is asked for.

    Args:
        folder: a path, which must be no link, or a descriptor, which stays open.
        wanted: what is read of it.

    Raises:
        TooMany: the folder holds more entries than are looked at.
        OSError: the folder itself cannot be read.
    """
    if isinstance(folder, int) or not BY_DESCRIPTOR:
        return _walk(folder, "", wanted, [0])
    return _walk_from(folder, wanted)


def _walk_from(folder: Path, wanted: Wanted) -> Iterator[tuple[str, BinaryIO | NotOrdinary]]:
    with open_folder(folder) as place:
        yield from _walk(place, "", wanted, [0])


@contextlib.contextmanager
def open_folder(name: Path | str, inside: int | None = None) -> Iterator[int]:
    """Lend a descriptor of a folder, which is no link.

    Raises:
        OSError: it is a link, is no folder, or cannot be opened.
    """
    place = os.open(name, _READ | os.O_DIRECTORY, dir_fd=inside)
    try:
        yield place
    finally:
        os.close(place)


def _walk(
    place: int | Path, above: str, wanted: Wanted, seen: list[int]
) -> Iterator[tuple[str, BinaryIO | NotOrdinary]]:
    """Walk a folder: a descriptor, or a path where descriptors are of no use."""
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder and not wanted.folder(above + entry.name):
                continue
            seen[0] += 1
            if seen[0] > wanted.most:
                raise TooMany
            if is_folder or wanted.file(above + entry.name):
                found.append((entry.name, is_folder))
    for name, is_folder in sorted(found):
        relative = above + name
        try:
            if is_folder:
                with _inner(place, name) as inner:
                    yield from _walk(inner, f"{relative}/", wanted, seen)
            else:
                with _opened(place, name, wanted.owner) as file:
                    yield relative, file
        except NotOrdinary as reason:
            yield relative, reason
        except OSError as error:
            why = _WHY.get(error.errno or 0) or f"cannot be read ({error.strerror})"
            yield relative, NotOrdinary(why)


@contextlib.contextmanager
def _inner(place: int | Path, name: str) -> Iterator[int | Path]:
    if isinstance(place, int):
        with open_folder(name, place) as opened:
            yield opened
    else:
        _no_link(place / name)
        yield place / name


@contextlib.contextmanager
def _opened(place: int | Path, name: str, owner: int | None) -> Iterator[BinaryIO]:
    if isinstance(place, int):
        opened = os.open(name, _READ, dir_fd=place)
    else:
        _no_link(place / name)
        opened = os.open(place / name, _READ)
    try:
        _judge(os.fstat(opened), owner)
        with os.fdopen(opened, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(opened)


def _no_link(path: Path) -> None:
    about = path.lstat()
    junction = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
    if stat.S_ISLNK(about.st_mode) or getattr(about, "st_reparse_tag", 0) == junction:
        raise NotOrdinary("is a link")


def _judge(about: os.stat_result, owner: int | None) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise NotOrdinary("is no ordinary file")
    if about.st_nlink > 1:
        raise NotOrdinary("has another name somewhere (a hard link)")
    if owner is not None and about.st_uid != owner:
        raise NotOrdinary("belongs to another account")
