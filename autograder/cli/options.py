"""What several commands take: the project, workers, how student code is isolated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.errors import UsageError
from autograder.nbgrader.places import project
from autograder.project import find_root
from autograder.sandbox import CHOICES

Root = Annotated[
    Path | None, typer.Option(help="The folder that holds assignments/ and reference/.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Workers side by side; default: the cores.")]
SandboxChoice = Annotated[
    str, typer.Option(help="auto, tier1, tier2, or none (student code is not isolated).")
]


def project_of(root: Path | None) -> Path:
    """Return the project, also for who stands in a course folder."""
    try:
        return find_root(root)
    except UsageError:
        if root is not None:
            raise
        return project()


def check_sandbox(sandbox: str) -> None:
    """Refuse what is no choice of `--sandbox`."""
    if sandbox not in CHOICES:
        raise UsageError(f"--sandbox {sandbox!r} is unknown; choose one of {', '.join(CHOICES)}")
