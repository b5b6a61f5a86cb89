"""A submission on its way: taken in where it lies, as it is taken in on one machine."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from autograder.judge.intake import Rejected, take_in

# What was taken in: the submission's files, or why it is rejected, or what failed here.
Files = dict[str, bytes]


class NotRead(Exception):
    """A submission cannot be read on this machine; that is nobody's zero."""


def taken_in(place: Path) -> Files:
    """Return what intake takes of a submission: no more of it is ever sent, and no link followed.

    Raises:
        Rejected: as on one machine, in the same words.
        NotRead: likewise.
    """
    try:
        return take_in(place)
    except Rejected:
        raise
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        raise NotRead(f"{type(error).__name__}: {error} ({where})") from error


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
