"""Gradescope's zip: what grades an assignment, this package, and two programs."""

from __future__ import annotations

from pathlib import Path

from autograder.archives import archive
from autograder.assignment import NOT_DECIDING, Assignment
from autograder.ci import packing, written
from autograder.errors import UsageError
from autograder.project import FOLDERS

FAULT = (
    "The grader failed. That is not your fault, and this is no mark: "
    "tell your instructor, who can run it again."
)
_LEAST = (3, 11)
_LEFT_OUT = ("__pycache__", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints", ".git")
# Gradescope ends a run after this time unless it is set otherwise; there is some to say so.
_SECONDS = 570


def pack(assignment: Assignment, seconds: int = _SECONDS) -> bytes:
    """Return the zip.

    Args:
        assignment: what is graded; its solutions are in the zip.
        seconds: how long a submission may take in all.

    Raises:
        UsageError: a file of the assignment cannot be read.
    """
    values = {
        "name": assignment.name,
        "torch": packing.version("torch"),
        "wheel": packing.WHEEL_NAME,
        "packages": [packing.pinned(package) for package in assignment.packages],
        "least": ".".join(map(str, _LEAST)),
        "least_tuple": ", ".join(map(str, _LEAST)),
        "fault": FAULT,
        "seconds": seconds,
    }
    files = [(name, text.encode(), True) for name, text in written.rendered("gradescope", values)]
    files.append(("constraints.txt", packing.constraints().encode(), False))
    files.append((packing.WHEEL_NAME, packing.wheel(), False))
    for part, folder in zip(FOLDERS, (assignment.public, assignment.secret), strict=True):
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder)
            # Wrong work that proves the suite decides no mark, nor does the workbook.
            needed = relative.parts[0] not in NOT_DECIDING
            if needed and path.is_file() and not any(word in _LEFT_OUT for word in relative.parts):
                name = f"project/{part}/{assignment.name}/{relative.as_posix()}"
                files.append((name, _read(path), False))
    return archive(files)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
