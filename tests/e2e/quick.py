"""Dask workers that grade nothing but say how they would end: faults are tried without judges."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from distributed import get_worker

from autograder.grading.messages import GradeAnswer, GradeJob, Marked
from autograder.platforms.cluster import far
from autograder.results import SubmissionResult

KILLER, LATE_KILLER, STUMBLER, FAILURE = "killer", "late", "stumbler", "failure"
# Of the environment: a file that every try is written to.
TRIES = "GRADEFORMER_TEST_TRIES"


class QuickJudges(far.Judges):
    """Judges that have a mark for everybody at once, and end their Dask worker for some."""

    def _prepare(self, folder: Path) -> None:
        """Take any machine for the same."""

    def start(self) -> str:
        return "none"

    def grade(self, job: GradeJob) -> GradeAnswer:
        with Path(os.environ[TRIES]).open("a+") as file:
            file.write(f"{job.id}\n")
            file.seek(0)
            first = file.read().split().count(job.id) == 1
        if job.id.startswith(KILLER):
            os.kill(os.getpid(), signal.SIGKILL)
        if job.id.startswith(FAILURE) or (job.id.startswith(STUMBLER) and first):
            raise RuntimeError("nothing of a judge")
        if job.id.startswith(LATE_KILLER) and first:
            get_worker().handlers["get_data"] = _killed
        result = SubmissionResult(
            submission=job.id,
            assignment="norm",
            status="graded",
            score=1.0,
            max_score=2.0,
            sandbox="none",
        )
        return Marked(result=result)


class ShortJudges(QuickJudges):
    """Judges whose Dask worker ends as soon as they are started."""

    def start(self) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""


async def _killed(**_: Any) -> None:
    """End this process when somebody fetches what it has answered."""
    os.kill(os.getpid(), signal.SIGKILL)
