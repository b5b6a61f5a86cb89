"""What travels to a Dask worker, and what must be the same there. Nothing here needs Dask."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.archives import archive
from autograder.assignment import Assignment
from autograder.project import FOLDERS
from autograder.sandbox.packages import OURS, version_of, versions


def packed(assignment: Assignment) -> bytes:
    """Return a zip of an assignment's two folders, without what grading does not need."""
    # Also an empty folder: a project has both.
    made = [(f"{folder}/{assignment.name}/", b"", False) for folder in FOLDERS]
    for _, path in assignment.files():
        made.append((path.relative_to(assignment.root).as_posix(), path.read_bytes(), False))
    return archive(made)


def unpacked(data: bytes, root: Path) -> Path:
    """Unpack an assignment into a new folder that nobody else can open, and return that."""
    root.mkdir(mode=0o700)
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        opened.extractall(root)
    return root


def laid_out(files: Mapping[str, bytes], name: bytes, folder: Path) -> Path:
    """Write the files that intake took of a submission to `folder`/`name`, and return that.

    Raises:
        ValueError: a file's path leads out of it.
    """
    place = folder / os.fsdecode(name)
    place.mkdir()
    for relative, data in files.items():
        path = place / relative
        if ".." in path.parts or not path.is_relative_to(place):
            raise ValueError(f"{relative!r} leads out of its folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


def recorded(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions here that a mark may depend on, and this package's own."""
    return {**versions(tuple(packages)), OURS: version_of(OURS)}


def difference(there: Mapping[str, str], here: Mapping[str, str]) -> str | None:
    """Say which version differs there from here; None if none does."""
    for name, found in there.items():
        if found != (version := here[name]):
            what = f"it has no {name}" if found == "unknown" else f"it has {name} {found}"
            repair = f"pip install {name}=={version} there"
            if name == "python":
                repair = f"start the worker with Python {version}"
            return (
                f"{what}, and this machine has {version}: a mark may depend on it, so {repair}, or "
                "grade from a machine that has the same"
            )
    return None
