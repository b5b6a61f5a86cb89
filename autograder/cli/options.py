"""Arguments that several commands take, and what they say about who can read the solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from autograder import private
from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.project import FOLDERS, ROOT_VARIABLE, find_root
from autograder.reports.terminal import say
from autograder.sandbox import CHOICES


def names_of_assignments(incomplete: str) -> list[str]:
    """Complete the name of an assignment, where the project is found without being named."""
    try:
        found = (find_root() / FOLDERS[0]).glob("*/assignment.toml")
        return sorted(p.parent.name for p in found if p.parent.name.startswith(incomplete))
    except (UsageError, OSError):
        return []


def completing(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Return what completes one of these words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


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
        autocompletion=completing(CHOICES),
        callback=_check_sandbox,
    ),
]


def the_assignment(name: str | None, root: Path | None, question: str) -> Assignment:
    """Return the assignment that `--assignment` names; it must."""
    if name is None:
        raise UsageError(f"--assignment is missing: {question}")
    return load_assignment(find_root(root), name)


def warn(assignment: Assignment, *places: Path) -> None:
    """Warn on stderr if other accounts can read the solutions of the project, or these places."""
    if words := private.exposed([assignment.secret.parent, *places]):
        say(words, stderr=True)
