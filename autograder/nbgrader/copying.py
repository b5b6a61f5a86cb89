"""Copying a submission out of a folder that its student can write to."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from autograder.judge.folders import NotOrdinary, Wanted, files_in
from autograder.judge.intake import MAX_ENTRIES

_DEEPEST = 20
_PIECE = 1 << 20


def copy(place: int, dest: Path, owner: int, course: Any) -> dict[str, str]:
    """Copy what may be copied, and return why the rest is left out, by its path.

    Args:
        place: a descriptor of the submission's folder.
        dest: a folder that does not exist yet.
        owner: the account that the files have to belong to.
        course: nbgrader's CourseDirectory, which says what is ignored and how much is too much.

    Raises:
        TooMany: there are more entries than are looked at.
        OSError: what was copied cannot be written.
    """
    left_out: dict[str, str] = {}
    space = 1000 * course.max_dir_size

    def is_ignored(name: str) -> bool:
        return _matches(name, course.ignore)

    def is_entered(name: str) -> bool:
        if name.count("/") >= _DEEPEST:
            left_out[name] = f"lies in more than {_DEEPEST} folders"
        return name not in left_out and not is_ignored(name)

    def is_opened(name: str) -> bool:
        return _matches(name, course.include) and not is_ignored(name)

    make_folder(dest, course.groupshared)
    for name, file in files_in(place, Wanted(is_opened, is_entered, MAX_ENTRIES, owner)):
        if isinstance(file, NotOrdinary):
            left_out[name] = str(file)
        elif not all(_is_plain(part) for part in name.split("/")):
            left_out[name] = "has a name with '..', a backslash or what cannot be printed"
        else:
            most = min(1000 * course.max_file_size, space)
            make_folder((dest / name).parent, course.groupshared)
            size = _written(file, dest / name, most, course.groupshared)
            if size > most:
                (dest / name).unlink()
                left_out[name] = "is more than c.CourseDirectory.max_file_size or max_dir_size"
            else:
                space -= size
    return left_out


def make_folder(folder: Path, shared: bool) -> None:
    """Make a folder, and those above it that are missing, for whoever grades alone."""
    if not folder.is_dir():
        make_folder(folder.parent, shared)
        folder.mkdir(0o700)
        if shared:
            folder.chmod(0o2770)


def _matches(name: str, patterns: list[str]) -> bool:
    base = PurePosixPath(name).name
    return any(fnmatch.fnmatch(base, pattern) for pattern in patterns)


def _is_plain(part: str) -> bool:
    return part.isprintable() and not part.startswith("..") and "\\" not in part


def _written(file: BinaryIO, path: Path, most: int, shared: bool) -> int:
    """Copy a file, or little more than `most` bytes of it, and return how many they are."""
    size = 0
    with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as made:
        if shared:
            path.chmod(0o660)
        while size <= most and (piece := file.read(_PIECE)):
            size += made.write(piece)
    return size
