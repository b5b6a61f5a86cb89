"""Where a course takes an assignment from that is there already."""

from __future__ import annotations

import os
from pathlib import Path

from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.project import FOLDERS, find_root, is_project


def source_of(given: str, root: Path | None) -> Assignment:
    """Return the assignment that a user names, by its name or by a path.

    Args:
        given: the name of an assignment of the project; or a path: of a project with one
            assignment, or of an assignment in `assignments/` or `reference/` of any project.
        root: the project for a name, or None to look for it.

    Raises:
        UsageError: there is no such assignment; the message says where to get one.
    """
    path = Path(given)
    is_path = os.sep in given or "/" in given or given in ("", ".", "..")
    if is_path or (path.is_dir() and not _is_known(given, root)):
        return _at(path)
    try:
        found = load_assignment(find_root(root), given)
    except UsageError as error:
        raise UsageError(
            f"--from {given}: {error}; an installed package holds no solutions, so clone the "
            f"repository that has {given} (gradeformer's, for an assignment of its own) and give "
            f"--from REPOSITORY/assignments/{given}"
        ) from error
    return _whole(found)


def _is_known(name: str, root: Path | None) -> bool:
    try:
        return (find_root(root) / FOLDERS[0] / name).is_dir()
    except UsageError:
        return False


def _at(path: Path) -> Assignment:
    place = path.resolve()
    if is_project(place):
        known = sorted(file.parent.name for file in (place / FOLDERS[0]).glob("*/assignment.toml"))
        if len(known) != 1:
            holds = f"holds {', '.join(known)}" if known else "holds no assignment"
            raise UsageError(f"--from {path}: it {holds}: give {path}/{FOLDERS[0]}/NAME of one")
        return _whole(load_assignment(place, known[0]))
    if place.parent.name in FOLDERS and is_project(place.parents[1]):
        return _whole(load_assignment(place.parents[1], place.name))
    raise UsageError(
        f"--from {path}: this is no assignment: give its name, or the path of its folder in the "
        "assignments/ of a project that has its reference/, too"
    )


def _whole(found: Assignment) -> Assignment:
    if not found.secret.is_dir():
        raise UsageError(f"{found.name} has no solutions: there is no {found.secret}")
    return found
