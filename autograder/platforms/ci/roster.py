"""Whose repositories are graded: a list of the instructor's, or an organisation's by prefix."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError

HEADER = ("student", "repository")
# A student's id is the name of a folder and of files, on any system.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}(?<!\.)(?<!\.json)(?<!\.lock)")
# `owner/name`; on GitLab there may be groups in groups. No address: a token goes to one server.
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}(?<!\.)(?<!\.git)"
_REPOSITORY = re.compile(rf"{_PART}(/{_PART}){{1,20}}")


@dataclass(frozen=True)
class Student:
    """A student's id and repository, as the platform names it: `owner/name`."""

    id: str
    repository: str


def from_list(path: Path) -> list[Student]:
    """Read a list: CSV with the columns `student` and `repository`, others beside them.

    Raises:
        UsageError: it cannot be read, or a row of it cannot be used; it names the row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
            columns = rows[0].keys() if rows else set(HEADER)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"the list {path} cannot be read ({error}): give a CSV file") from error
    missing = [column for column in HEADER if column not in columns]
    if missing:
        raise UsageError(
            f"the list {path} has no column {missing[0]!r}: its first line is `{','.join(HEADER)}`"
        )
    found = []
    for number, row in enumerate(rows, 2):
        student = Student(*((row[column] or "").strip() for column in HEADER))
        reason = unusable(student)
        if reason:
            raise UsageError(f"line {number} of {path}: {reason}")
        found.append(student)
    doubled = twice(student.id for student in found)
    if doubled:
        raise UsageError(f"{path} names {doubled[0]} twice: keep one row of each student")
    shared = twice(student.repository for student in found)
    if shared:
        names = [s.id for s in found if s.repository.casefold() == shared[0].casefold()]
        raise UsageError(
            f"{path} gives {shared[0]} to {' and '.join(names)}: a commit has one mark, so give "
            "each student a repository of their own"
        )
    return found


def from_names(
    names: Iterable[str], organisation: str, prefix: str
) -> tuple[list[Student], list[str]]:
    """Make a list of an organisation's repositories, and of what cannot be used of them.

    Args:
        names: of all repositories that it lists, as `owner/name`.
        organisation: whose they have to be.
        prefix: what those of an assignment begin with; the rest of the name is the student's id.
    """
    found, left_out = [], []
    for name in sorted(set(names)):
        owner, _, short = name.rpartition("/")
        if not short.startswith(prefix):
            continue
        if owner.casefold() != organisation.casefold():
            left_out.append(f"{name}: it is listed there, but belongs to {owner}")
            continue
        student = Student(short.removeprefix(prefix), name)
        reason = unusable(student)
        if reason:
            left_out.append(f"{name}: {reason}")
        else:
            found.append(student)
    doubled = twice(student.id for student in found)
    left_out += [f"{s.repository}: the id {s.id} is there twice" for s in found if s.id in doubled]
    return [student for student in found if student.id not in doubled], left_out


def unusable(student: Student) -> str:
    """Say why a row cannot be used; nothing, if it can."""
    if not _ID.fullmatch(student.id):
        return (
            f"{student.id!r} is no id that a file can be named by: take letters, digits and "
            "any of . _ @ + -"
        )
    if not _REPOSITORY.fullmatch(student.repository):
        return f"{student.repository!r} is no repository: write it as owner/name"
    return ""


def twice(names: Iterable[str]) -> list[str]:
    """Return the names that are there twice, also where upper and lower case are one."""
    listed = list(names)
    counts = Counter(map(str.casefold, listed))
    return [name for name in listed if counts[name.casefold()] > 1]
