"""What several commands take: the project, workers, how student code is isolated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.errors import UsageError
from autograder.project import ROOT_VARIABLE
from autograder.sandbox import CHOICES

Root = Annotated[
    Path | None,
    typer.Option(
        help="The project: the folder that holds assignments/ and reference/; default: "
        f"${ROOT_VARIABLE}, or the current folder or one above it."
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Workers side by side; default: the cores.")]
SandboxChoice = Annotated[
    str, typer.Option(help="auto, tier1, tier2, or none (student code is not isolated).")
]


def check_sandbox(sandbox: str) -> None:
    """Refuse what is no choice of `--sandbox`."""
    if sandbox not in CHOICES:
        raise UsageError(f"--sandbox {sandbox!r} is unknown; choose one of {', '.join(CHOICES)}")
