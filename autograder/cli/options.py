"""What several commands take: the project, workers, how student code is isolated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.project import FOLDERS, ROOT_VARIABLE, find_root
from autograder.sandbox import CHOICES


def names_of_assignments(incomplete: str) -> list[str]:
    """Complete the name of an assignment, where the project is found without being named."""
    try:
        found = (find_root() / FOLDERS[0]).glob("*/assignment.toml")
        return sorted(p.parent.name for p in found if p.parent.name.startswith(incomplete))
    except (UsageError, OSError):
        return []


def _choices(incomplete: str) -> list[str]:
    return [choice for choice in CHOICES if choice.startswith(incomplete)]


def _check_sandbox(sandbox: str) -> str:
    """Refuse what is no choice of `--sandbox`."""
    if sandbox not in CHOICES:
        raise UsageError(f"--sandbox {sandbox!r} is unknown; choose one of {', '.join(CHOICES)}")
    return sandbox


Name = Annotated[
    str, typer.Argument(help="The assignment's name.", autocompletion=names_of_assignments)
]
NameOption = Annotated[
    str | None, typer.Option(help="The assignment's name.", autocompletion=names_of_assignments)
]
Root = Annotated[
    Path | None,
    typer.Option(
        help="The project: the folder that holds assignments/ and reference/; default: "
        f"${ROOT_VARIABLE}, or the current folder or one above it."
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Workers side by side; default: the cores.")]
SandboxChoice = Annotated[
    str,
    typer.Option(
        help="auto, tier1, tier2, tier3, or none (student code is not isolated).",
        autocompletion=_choices,
        callback=_check_sandbox,
    ),
]


def assignment_of_results(name: str, root: Path | None) -> Assignment | None:
    """Return the assignment of a result; None where there is none, and none was named."""
    if root is not None:
        return load_assignment(find_root(root), name)
    try:
        folder = find_root()
    except UsageError:
        return None
    # One that is there and malformed is to be repaired.
    here = Path(name).name == name and (folder / "assignments" / name / "assignment.toml").is_file()
    return load_assignment(folder, name) if here else None
