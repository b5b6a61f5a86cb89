"""What a Dask worker does for a run: it starts judges, one for each of its threads, and asks them.

A Dask worker has threads, so it never forks: a judge is a program that it starts. The kernel ends
that program with the thread that started it; the threads used here, of asyncio and of Dask's own
executor, stay as long as the Dask worker does.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import SchedulerPlugin, WorkerPlugin, get_worker

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.grading.messages import GradeAnswer, GradeJob, Refused, written
from autograder.grading.workers import CannotGrade, WorkerPool
from autograder.platforms.cluster.carrying import difference, laid_out, recorded, unpacked
from autograder.sandbox.packages import OURS


@dataclass(eq=False)
class Judges(WorkerPlugin):  # type: ignore[misc]
    """The judges of one Dask worker for one run."""

    name: str  # the run's
    assignment: str  # its name
    data: bytes  # the assignment, packed
    sandbox: str  # how student code is isolated
    suite_hash: str  # of the assignment and of the code that marks, where the run was started
    versions: Mapping[str, str]  # those that a mark may depend on, likewise

    async def setup(self, worker: Any) -> None:
        """Unpack the assignment, and see that this machine grades as the command's does.

        Raises:
            CannotGrade: it does not. A worker that joins later says so when it is asked to grade.
        """
        self._threads = worker.state.nthreads
        self._pool: WorkerPool | None = None
        try:
            # If this process is killed, Dask removes its folder when it starts another.
            await asyncio.to_thread(self._prepare, Path(worker.local_directory, self.name))
        except (UsageError, OSError) as error:
            self._refused = str(error)
            raise _named(worker, error) from error

    def _prepare(self, folder: Path) -> None:
        self._assignment = load_assignment(unpacked(self.data, folder), self.assignment)
        reason = difference(recorded(self._assignment.packages), self.versions)
        if reason is None and self._assignment.suite_hash() != self.suite_hash:
            reason = (
                f"it has another {OURS} {self.versions[OURS]} than this machine (what decides "
                f"marks has another hash): install the same build of {OURS} there"
            )
        if reason is not None:
            raise CannotGrade(reason)
        self._pool = WorkerPool(self._assignment, self.sandbox)

    async def teardown(self, worker: Any) -> None:
        """End the judges, and remove the assignment."""
        if self._pool is not None:
            await asyncio.to_thread(self._pool.close)
        shutil.rmtree(Path(worker.local_directory, self.name), ignore_errors=True)

    def start(self) -> str:
        """Start all judges, side by side; return how they isolate student code."""
        return self._ready().start(self._threads)

    def grade(self, job: GradeJob) -> GradeAnswer:
        """Have a submission of this machine graded, by a judge that is started if none is idle."""
        return self._ready().grade(job)

    def _ready(self) -> WorkerPool:
        if self._pool is None:
            raise CannotGrade(self._refused)
        return self._pool


class Leaving(SchedulerPlugin):  # type: ignore[misc]
    """Ends a run's judges, on the scheduler's side, when its command has left or was killed."""

    def __init__(self, run: str, client: str) -> None:
        self.name = f"{run}-leaving"
        self._run, self._client = run, client

    def remove_client(self, scheduler: Any, client: str) -> None:
        """Take the plugins of the run away if it is the command's client that is gone."""
        if client == self._client:
            scheduler.loop.add_callback(scheduler.unregister_worker_plugin, None, self._run)
            scheduler.remove_plugin(self.name)


def _named(worker: Any, error: Exception) -> CannotGrade:
    return CannotGrade(f"on the Dask worker {worker.address}: {error}")


async def start(run: str, dask_worker: Any) -> tuple[bool, str]:
    """Start the judges; return whether they are ready, and the sandbox in words or why not."""
    try:
        return True, await asyncio.to_thread(dask_worker.plugins[run].start)
    except (UsageError, OSError) as error:
        return False, str(_named(dask_worker, error))


def grade(run: str, name: bytes, files: Mapping[str, bytes], line: bytes) -> bytes:
    """Grade a submission, given its name, its files and the job; return the answer as a line."""
    worker = get_worker()
    job = GradeJob.model_validate_json(line)
    with tempfile.TemporaryDirectory(dir=worker.local_directory) as folder:
        place = laid_out(files, name, Path(folder))
        try:
            answer = worker.plugins[run].grade(job.model_copy(update={"path": bytes(place)}))
        except CannotGrade as error:
            answer = Refused(reason=str(_named(worker, error)))
    return written(answer)
