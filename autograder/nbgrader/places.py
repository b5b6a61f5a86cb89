"""Where things are for a course: the project that grades it, a student's files, the results."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.errors import UsageError
from autograder.grading.entries import Entry, submission_in
from autograder.project import find_root

ROOT_VARIABLE = "GRADEFORMER_ROOT"
_INSTALLED = Path(__file__).resolve().parents[2]


def project(given: str = "") -> Path:
    """Return the project that grades a course; it is never part of the course folder.

    Args:
        given: what the configuration names, if it names one; otherwise the environment variable
            `GRADEFORMER_ROOT` counts, or the project that this package was installed from.

    Raises:
        UsageError: none of these is a project.
    """
    named = given or os.environ.get(ROOT_VARIABLE, "")
    try:
        return find_root(Path(named) if named else _INSTALLED)
    except UsageError as error:
        where = f"{named} has no assignments/ and reference/" if named else "none is installed here"
        raise UsageError(
            f"the project that grades this course is not found ({where}): set {ROOT_VARIABLE} to "
            "the folder that holds assignments/ and reference/"
        ) from error


def entry_of(student: str, folder: Path, assignment: str) -> Entry:
    """Return the entry of a student whose files are in `folder`, as a batch would find it."""
    if folder.name == assignment:
        return Entry(student, submission_in(folder.parent, assignment))
    return Entry(student, folder)


def results_folder(course: Path, assignment: str) -> Path:
    """Return where the results of a course's assignment are kept."""
    return course / "gradeformer" / assignment
