"""The project: the folder that holds `assignments/` and `reference/`, and how it is found."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from autograder.errors import UsageError

ROOT_VARIABLE = "GRADEFORMER_ROOT"
FOLDERS = ("assignments", "reference")


def find_root(given: Path | None = None, option: str = "--root") -> Path:
    """Return the project that a command works on.

    That is what the user names; else what the environment variable `GRADEFORMER_ROOT` names; else
    the nearest project from the current folder upward. What is named and is none is refused, also
    where a further place would have one.

    Args:
        given: what the user names, if anything.
        option: where the user may name it, for the refusal.

    Raises:
        UsageError: there is no project there; the message says all three ways.
    """
    variable = os.environ.get(ROOT_VARIABLE, "")
    if given is not None:
        named, where = given, str(given)
    elif variable:
        named, where = Path(variable), f"{ROOT_VARIABLE}={variable}"
    else:
        named, where = None, "the current folder"
    try:
        start = Path.cwd() if named is None else named.resolve()
    # The folder one stands in may be gone, and links may lead round.
    except (OSError, RuntimeError, ValueError) as error:
        raise _no_project(f"{where} cannot be opened ({error})", option) from error
    for folder in (start, *start.parents) if named is None else (start,):
        if is_project(folder):
            return folder
    folders = f"{FOLDERS[0]}/ and {FOLDERS[1]}/"
    if named is None:
        raise _no_project(f"no {folders} in or above {where}", option)
    raise _no_project(f"{where} has no {folders}", option)


def assignment_of(root: Path, named: str | None = None) -> str:
    """Return the assignment that a command is about, where it may be left out.

    That is what the user names; else the project's only one; else what the project's pyproject.toml
    names as `assignment` in the table `[tool.gradeformer]`.

    Raises:
        UsageError: it is not named, and there are several, or none.
    """
    if named is not None:
        return named
    usual = usual_assignments(root)
    if len(usual) == 1:
        return usual[0]
    raise UsageError(
        f"the project has several assignments: name one with --assignment, {', '.join(usual)}"
    )


def usual_assignments(root: Path) -> list[str]:
    """Return what a command is about that names no assignment: the usual one, else all there are.

    Raises:
        UsageError: the project has none.
    """
    there = sorted(path.parent.name for path in (root / FOLDERS[0]).glob("*/assignment.toml"))
    if len(there) == 1:
        return there
    try:
        tools = tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("tool", {})
        usual = tools.get("gradeformer", {}).get("assignment")
    except (OSError, ValueError, AttributeError):
        usual = None
    if not there and not isinstance(usual, str):
        raise UsageError(
            f"{root / FOLDERS[0]} has no assignment: begin one with `autograder new assignment`"
        )
    return [usual] if isinstance(usual, str) else there


def is_project(folder: Path) -> bool:
    """Return whether a folder holds what a project holds; one that is closed to us does not."""
    try:
        return all((folder / part).is_dir() for part in FOLDERS)
    except (OSError, ValueError):
        return False


def _no_project(what: str, option: str) -> UsageError:
    return UsageError(
        f"{what}: name the project with {option}, set {ROOT_VARIABLE} to it, or run the command "
        "inside of it"
    )
