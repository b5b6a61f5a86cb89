"""Where things are for a course: a student's files, the results."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.entries import Entry, submission_in


def entry_of(student: str, folder: Path, assignment: str) -> Entry:
    """Return the entry of a student whose files are in `folder`, as a batch would find it."""
    if folder.name == assignment:
        return Entry(student, submission_in(folder.parent, assignment))
    return Entry(student, folder)


def results_folder(course: Path, assignment: str) -> Path:
    """Return where the results of a course's assignment are kept."""
    return course / "gradeformer" / assignment
