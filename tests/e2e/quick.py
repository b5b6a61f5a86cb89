"""Dask workers that grade nothing but say how they would end: faults are tried without judges."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from distributed import get_worker

from autograder.cluster import far
from autograder.grading.messages import GradeAnswer, GradeJob, Marked
from autograder.results import SubmissionResult

KILLER, LATE_KILLER = "killer", "late"
# Of the environment: a file that every try is written to.
TRIES = "GRADEFORMER_TEST_TRIES"


class QuickSlots(far.Slots):
    """Slots that have a mark for everybody at once, and end their process for some."""

    def check(self) -> None:
        """Take any machine for the same."""

    def open(self) -> str:
        return "none"

    def grade(self, job: GradeJob) -> GradeAnswer:
        with Path(os.environ[TRIES]).open("a") as file:
            file.write(f"{job.id}\n")
        if job.id.startswith(KILLER):
            os.kill(os.getpid(), signal.SIGKILL)
        if job.id.startswith(LATE_KILLER):
            _kill_after_the_answer()
        result = SubmissionResult(
            submission=job.id,
            assignment="norm",
            status="graded",
            score=1.0,
            max_score=2.0,
            sandbox="none",
        )
        return Marked(result=result)


class ShortSlots(QuickSlots):
    """Slots whose process ends as soon as they are opened."""

    def open(self) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""


def _kill_after_the_answer() -> None:
    """Let what is told to the scheduler next be the last that this process does."""
    scheduler = get_worker().scheduler
    tell = scheduler.queue_put

    async def told(**words: Any) -> None:
        await tell(**words)
        os.kill(os.getpid(), signal.SIGKILL)

    scheduler.queue_put = told
