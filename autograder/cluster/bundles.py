"""An assignment on its way to another machine: its two folders as bytes with their hash.

They are put where their owner alone can read, below the folder of what is kept between runs, and
whole or not at all. The sandbox there does not open that folder, and its probe tries to.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.archives import archive
from autograder.assignment import NOT_DECIDING, Assignment
from autograder.errors import UsageError
from autograder.project import FOLDERS
from autograder.solutions.places import CACHE_VARIABLE, cache_folder

MOST_BYTES = 256_000_000
_FOLDER = "assignments"
# What was not used for so long goes.
_KEPT_S = 14 * 24 * 3600.0


@dataclass(frozen=True)
class Bundle:
    """An assignment as bytes, and their hash."""

    name: str
    data: bytes
    digest: str


def packed(assignment: Assignment) -> Bundle:
    """Return the files of an assignment that grading may need.

    That is all of both folders but the workbook and what proves the suites.

    Raises:
        UsageError: they are far too large to be sent.
    """
    data = archive((name, data, False) for name, data in _files(assignment))
    return Bundle(assignment.name, data, hashlib.sha256(data).hexdigest())


def _files(assignment: Assignment) -> Iterator[tuple[str, bytes]]:
    size = 0
    for place, folder in zip(FOLDERS, (assignment.public, assignment.secret), strict=True):
        # Also one without a file: a project has both.
        yield f"{place}/{assignment.name}/", b""
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            left_out = inner.parts[0] in NOT_DECIDING or "__pycache__" in inner.parts
            if left_out or not path.is_file():
                continue
            size += path.stat().st_size
            if size > MOST_BYTES:
                raise UsageError(
                    f"the assignment {assignment.name} has more than {MOST_BYTES} bytes, which is "
                    "too much to send to a cluster: keep large data out of its folders"
                )
            yield f"{place}/{assignment.name}/{inner.as_posix()}", path.read_bytes()


def private_folder() -> Path:
    """Return the folder that bundles are unpacked in.

    Raises:
        UsageError: there is none that is this user's alone.
    """
    kept = cache_folder()
    if kept is None:
        raise UsageError(
            f"there is no folder that is this user's alone to put the assignment in: set "
            f"{CACHE_VARIABLE} to one with mode 700"
        )
    folder = kept / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    # Whatever made it, and however wide.
    folder.chmod(0o700)
    return folder


def unpacked(bundle: Bundle) -> Path:
    """Return the project that holds a bundle's assignment, after writing what is not there.

    Raises:
        UsageError: it arrived damaged, or there is no place for it.
    """
    if hashlib.sha256(bundle.data).hexdigest() != bundle.digest:
        raise UsageError(f"the assignment {bundle.name} arrived damaged: run the command again")
    folder = private_folder()
    place = folder / bundle.digest
    if not _holds(place, bundle):
        _write(bundle, place)
    with contextlib.suppress(OSError):
        os.utime(place)
        _sweep(folder, place)
    return place


def _write(bundle: Bundle, place: Path) -> None:
    """Write it beside its place and move it there; what is damaged there makes room."""
    made = Path(tempfile.mkdtemp(dir=place.parent, prefix="."))
    try:
        _extract(bundle, made / "new")
        with contextlib.suppress(FileNotFoundError):
            if not _holds(place, bundle):
                place.rename(made / "old")
        try:
            (made / "new").rename(place)
        except OSError:
            # Another process has put it there meanwhile.
            if not _holds(place, bundle):
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _extract(bundle: Bundle, place: Path) -> None:
    """Write every file so that its owner alone can read it."""
    place.mkdir(mode=0o700)
    with zipfile.ZipFile(io.BytesIO(bundle.data)) as opened:
        for entry in opened.infolist():
            path = place
            *folders, name = PurePosixPath(entry.filename).parts
            for part in [*folders, name] if entry.is_dir() else folders:
                path = path / part
                path.mkdir(mode=0o700, exist_ok=True)
            if not entry.is_dir():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                with os.fdopen(os.open(path / name, flags, 0o600), "wb") as file:
                    file.write(opened.read(entry))


def _holds(place: Path, bundle: Bundle) -> bool:
    """Tell whether every file of a bundle is in its place as it was packed, and no other."""
    with zipfile.ZipFile(io.BytesIO(bundle.data)) as opened:
        wanted = {entry.filename: entry for entry in opened.infolist() if not entry.is_dir()}
        try:
            # What Python makes beside a module is its own; anything else is somebody's.
            found = {
                path.relative_to(place).as_posix()
                for path in place.rglob("*")
                if "__pycache__" not in path.parts and not path.is_dir()
            }
            return found == set(wanted) and all(
                (place / name).read_bytes() == opened.read(entry) for name, entry in wanted.items()
            )
        except OSError:
            return False


def _sweep(folder: Path, used: Path) -> None:
    """Remove what no run has used for long, and what one that was killed left half written."""
    for path in folder.iterdir():
        if path != used and path.stat().st_mtime < time.time() - _KEPT_S:
            shutil.rmtree(path, ignore_errors=True)
