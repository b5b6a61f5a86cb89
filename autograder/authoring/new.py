"""Begin a course of one's own, or one more assignment in it.

Everything is written apart and moved to its place when it is whole, so a failure leaves nothing
behind.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from autograder import __version__
from autograder.assignment import Assignment, check_component_name, load_assignment
from autograder.authoring import stubs
from autograder.authoring.folders import (
    filled,
    must_be_new,
    readable_errors,
    whole,
    write_files,
)
from autograder.authoring.stubs import MARK
from autograder.errors import UsageError
from autograder.project import FOLDERS, find_root, is_project

# The assignment of a course that is begun from nothing, and its only component.
FIRST, FIRST_COMPONENT = "first_steps", "rescale"
_LEFT_OUT = ("__pycache__", "*.pyc", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints")


def new_course(folder: Path, source: Assignment | None = None) -> Assignment:
    """Write a course's repository and return its assignment.

    Args:
        folder: new, or empty.
        source: an assignment to begin with, which is copied; by default a tiny one of our own.

    Raises:
        UsageError: the folder cannot be used, or the source cannot be read.
    """
    with readable_errors(folder):
        must_be_new(folder, "give a new folder for the course")
        target = folder.resolve()
    name = FIRST if source is None else source.name
    for inside in () if source is None else (source.public, source.secret):
        if target.is_relative_to(inside):
            raise UsageError(f"{folder} lies in {inside}, which is copied: give a folder elsewhere")
    values = {
        "name": name,
        "slug": re.sub(r"[^a-z0-9]+", "-", target.name.lower()).strip("-") or "course",
        "version": __version__,
        "seed": new_seed(),
        "mark": MARK,
    }
    with whole(folder) as made:
        write_files(made, filled("course", values))
        if source is None:
            write_files(made, filled("first_steps", values))
            stubs.write(load_assignment(made, name))
        else:
            for part, origin in zip(FOLDERS, (source.public, source.secret), strict=True):
                left_out = shutil.ignore_patterns(*_LEFT_OUT)
                shutil.copytree(origin, made / part / name, ignore=left_out)
            load_assignment(made, name)
    return load_assignment(target, name)


def new_assignment(root: Path, name: str, components: Sequence[str]) -> Assignment:
    """Write the files of an assignment of a course that is to be filled in, and return it.

    Raises:
        UsageError: a name cannot be used, or the course cannot be written.
    """
    with readable_errors(root):
        check_names(root, name, components)
    values = {
        "name": name,
        "title": name,
        "components": list(components),
        "seed": new_seed(),
        "mark": MARK,
    }
    with whole(root, [f"{part}/{name}" for part in FOLDERS]) as made:
        write_files(made, filled("assignment", values, components))
        stubs.write(load_assignment(made, name))
    return load_assignment(root, name)


def check_names(root: Path, name: str, components: Sequence[str]) -> None:
    """Check the names of a new assignment and its components.

    Raises:
        UsageError: one cannot be used, or exists.
    """
    if not name.isidentifier() or not name.isascii():
        raise UsageError(
            f"an assignment cannot be called {name!r}: take letters, digits and underscores, "
            "and no digit first"
        )
    for part in FOLDERS:
        # Where upper and lower case are one to the file system, too.
        for there in sorted((root / part).iterdir()):
            if there.name.casefold() == name.casefold():
                raise UsageError(f"{there} exists: choose another name than {name!r}")
    if not components:
        raise UsageError(
            f"{name!r} has no component: name one or more, as in --component first "
            "--component second"
        )
    for component in components:
        try:
            check_component_name(component)
        except ValueError as error:
            raise UsageError(f"--component {component}: {error}") from error
        if [other.casefold() for other in components].count(component.casefold()) > 1:
            raise UsageError(f"--component {component}: the name is given twice")


def new_seed() -> int:
    """Return a seed of a course's own: others' questions tell nobody anything."""
    return secrets.randbelow(10**8)


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
    return _with_solutions(found)


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
        return _with_solutions(load_assignment(place, known[0]))
    if place.parent.name in FOLDERS and is_project(place.parents[1]):
        return _with_solutions(load_assignment(place.parents[1], place.name))
    raise UsageError(
        f"--from {path}: this is no assignment: give its name, or the path of its folder in the "
        "assignments/ of a project that has its reference/, too"
    )


def _with_solutions(found: Assignment) -> Assignment:
    if not found.secret.is_dir():
        raise UsageError(f"{found.name} has no solutions: there is no {found.secret}")
    return found
