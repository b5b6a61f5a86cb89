"""Say what other accounts of the machine can read, and what closes it."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from autograder import private
from autograder.assignment import Assignment
from autograder.reports.terminal import safe


def warn(assignment: Assignment, *places: Path) -> None:
    """Say on stderr if others can read the solutions of the project, or these places."""
    if words := private.exposed([assignment.secret.parent, *places]):
        Console(stderr=True, soft_wrap=True).print(safe(words, 4000), highlight=False)
