"""Dask workers that some submissions kill, and that wait with some others until a test says so.

`patch` is called in the command that a test runs, before it begins.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from autograder.grading.messages import GradeAnswer, GradeJob
from autograder.platforms.cluster import client, far
from tests.e2e.waiting import until

KILLER, LATE = "killer", "z"
# Of the environment: a file that every try is written to, one that opens the gate, and how many
# submissions have to be done before late ones are sent.
TRIES, GATE, EARLY_COUNT = (f"GRADEFORMER_TEST_{name}" for name in ("TRIES", "GATE", "EARLY_COUNT"))
PATCH = "from tests.e2e import gated; gated.patch(); "
_PATIENCE_S = 1200.0


class GatedJudges(far.Judges):
    """Judges that end their Dask worker for a killer, and begin late ones when the gate is open."""

    def grade(self, job: GradeJob) -> GradeAnswer:
        with Path(os.environ[TRIES]).open("a") as file:
            file.write(f"{job.id}\n")
        if job.id.startswith(KILLER):
            os.kill(os.getpid(), signal.SIGKILL)
        if job.id.startswith(LATE):
            until(lambda: Path(os.environ[GATE]).exists() or None, _PATIENCE_S, "the gate")
        return super().grade(job)


class GatedGrader(client.Grader):
    """Sends late submissions last, or they would keep others out of their slots."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._answered: list[str] = []

    def grade(self, job: GradeJob) -> GradeAnswer:
        if job.id.startswith(LATE):
            until(self._late, _PATIENCE_S, "the early ones")
            return super().grade(job)
        answer = super().grade(job)
        self._answered.append(job.id)
        return answer

    def _late(self) -> bool | None:
        early = int(os.environ.get(EARLY_COUNT, "0"))
        return len(self._answered) >= early or Path(os.environ[GATE]).exists() or None


def patch() -> None:
    """Let the command take these."""
    far.Judges = GatedJudges  # type: ignore[misc]
    client.Grader = GatedGrader  # type: ignore[misc]
