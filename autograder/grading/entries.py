"""The entries of a batch: which submissions there are, and whose."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError

ARCHIVES = (".zip", ".tar.gz")
# A file name has 255 bytes, and a result file is called <id>.json.
_MAX_ID = 240


@dataclass(frozen=True)
class Entry:
    """One entry of a batch: the student's id and where the submission is.

    `exempt` names files that may call forbidden operations, as stand-ins do; no student's may.
    `only` and `diagnose` are those of a `GradeJob`.
    """

    id: str
    path: Path
    exempt: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    diagnose: bool = True


def discover(batch: Path, assignment: str) -> list[Entry]:
    """Return the entries of a batch, sorted by id.

    nbgrader's `submitted/<student>/<assignment>/` is read as it is.

    Raises:
        UsageError: `batch` is no folder, is empty, or two entries have one id.
    """
    if not batch.is_dir():
        what = "is a file" if batch.exists() else "does not exist"
        raise UsageError(f"{batch} {what}: give the folder that holds one submission an entry")
    entries: dict[str, Entry] = {}
    for path in sorted(batch.iterdir()):
        if path.name.startswith((".", "__MACOSX")):
            continue
        entry = Entry(_id_of(path), path)
        if len(entry.id.encode()) > _MAX_ID:
            raise UsageError(
                f"the name of {entry.id[:40]}… in {batch} is longer than {_MAX_ID} bytes, which "
                "leaves no room for the name of its result: shorten it"
            )
        if entry.id in entries:
            other = entries[entry.id].path.name
            raise UsageError(
                f"{other} and {path.name} in {batch} are both of {entry.id!r}: keep one of them"
            )
        entries[entry.id] = Entry(entry.id, submission_in(path, assignment))
    if not entries:
        raise UsageError(f"{batch} is empty: give the folder that holds one submission an entry")
    return [entries[key] for key in sorted(entries)]


def submission_in(path: Path, assignment: str) -> Path:
    """Return where an entry's files are: nbgrader has them in a folder named as the assignment."""
    inner = path / assignment
    # A link could lead to the reference, or to a neighbour's work; intake refuses it.
    if path.is_symlink():
        return path
    if inner.is_dir() and not inner.is_symlink() and not any(path.glob("*.py")):
        return inner
    return path


def _id_of(path: Path) -> str:
    # A name that is no UTF-8 keeps its odd bytes as escapes, which every result file can hold.
    name = os.fsencode(path.name).decode(errors="backslashreplace")
    if not path.is_dir():
        for suffix in ARCHIVES:
            if name.endswith(suffix):
                return name.removesuffix(suffix)
    return name
