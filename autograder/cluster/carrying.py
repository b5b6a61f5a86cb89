"""A submission on its way: taken in where it lies, as it is taken in on one machine."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.judge.intake import Rejected, digest
from autograder.judge.limited import take_in_limited


@dataclass(frozen=True)
class Taken:
    """What intake takes of a submission: its files by relative path, and their hash."""

    files: dict[str, bytes]
    digest: str


class NotTaken(Exception):
    """A submission is rejected; the message says why, in the words of one machine."""


class NotRead(Exception):
    """A submission cannot be read on this machine; that is nobody's zero."""


def taken_in(place: Path) -> Taken:
    """Take a submission in: no more of it than this is ever sent, and no link is followed.

    Raises:
        NotTaken: it is rejected.
        NotRead: it cannot be read here.
    """
    try:
        files = take_in_limited(place)
    except Rejected as rejection:
        raise NotTaken(str(rejection)) from rejection
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        raise NotRead(f"{type(error).__name__}: {error} ({where})") from error
    return Taken(files, digest(files))


def laid_out(files: Mapping[str, bytes], name: bytes, folder: Path) -> Path:
    """Write a submission's files into a folder of its name and return that.

    Args:
        files: what intake took, by relative path.
        name: what the submission was called where it was taken in.
        folder: where to; it is the caller's alone.

    Raises:
        ValueError: a name leads elsewhere.
    """
    place = _below(folder, os.fsdecode(name))
    place.mkdir()
    for relative, data in files.items():
        path = _below(place, relative)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


def _below(folder: Path, name: str) -> Path:
    parts = PurePosixPath(name).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in name:
        raise ValueError(f"{name!r} leads out of its folder")
    return folder.joinpath(*parts)
