"""A component in the student's own process, and what is known of it there."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from autograder.exchange.executor import Executor
from autograder.exchange.messages import Reply, Request
from autograder.exchange.rules import Rules


class LocalSession:
    """Requests to the component in `folder`, imported into this process."""

    def __init__(self, folder: Path, name: str, program: bool = False) -> None:
        self.executor = Executor(folder, name, program=program)
        self._load_error = self.executor.load()

    def perform(self, request: Request) -> Reply:
        """Answer with the component, or with why it could not be imported."""
        if self._load_error is not None:
            return Reply(error=self._load_error)
        return self.executor.perform(request)


@dataclass(frozen=True)
class Terms:
    """What a student's run knows of a component: its worth in all, its rules, and if it is run."""

    points: float
    rules: Rules = field(default_factory=Rules)
    program: bool = False
