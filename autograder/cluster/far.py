"""The far side: what a Dask worker does. It starts the judges of its slots and asks them.

A Dask worker has threads, so it never forks: a warm judge is a program that it starts anew. The
kernel ends that program with the thread that started it, so one thread starts them all, and stays.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import threading
import time
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from autograder.assignment import Assignment, load_assignment
from autograder.cluster.bundles import Bundle, unpacked
from autograder.cluster.carrying import laid_out
from autograder.cluster.versions import difference, other_code, recorded
from autograder.errors import UsageError
from autograder.grading.messages import (
    Answer,
    Fault,
    GradeAnswer,
    GradeJob,
    Refused,
    written,
)
from autograder.grading.workers import CannotGrade, Worker, WorkerPool
from autograder.sandbox.packages import OURS

# A submission whose Dask worker is lost so often is not run again.
MOST_BEGUN = 2
LOST = (
    f"the Dask worker that graded it was lost {MOST_BEGUN} times: it is not tried again in this "
    "run; run the command again to try once more"
)
# Without a job for so long its judges end: whoever asked for them may be gone.
_IDLE_S = 600.0


class Slots(WorkerPlugin):  # type: ignore[misc]
    """The judges of one Dask worker for one run: one for each of its threads.

    Nothing is started before it is asked for.

    Args:
        run: the run's name.
        bundle: the assignment.
        sandbox: how student code is isolated.
        suite_hash: of the assignment and of the code that marks, where the run was started.
        versions: those that a mark may depend on, likewise.
        idle_s: without a job for so long the judges end.
    """

    def __init__(
        self,
        run: str,
        bundle: Bundle,
        sandbox: str,
        suite_hash: str,
        versions: Mapping[str, str],
        idle_s: float = _IDLE_S,
    ) -> None:
        self.name = run
        self._bundle = bundle
        self._sandbox = sandbox
        self._suite_hash = suite_hash
        self._versions = dict(versions)
        self._idle_s = idle_s
        self._state: _State | None = None

    def setup(self, worker: Any) -> None:
        """Get ready to be asked."""
        self._state = _State(worker.address, worker.state.nthreads)
        threading.Thread(target=self._end_when_idle, args=(self._state,), daemon=True).start()

    async def teardown(self, worker: Any) -> None:
        """End the judges."""
        state = self._here
        state.ended.set()
        await asyncio.to_thread(state.close)

    def check(self) -> None:
        """See that this machine grades as the one does where the run was started.

        Raises:
            CannotGrade: it does not, or has no place for the assignment.
        """
        with self._here.lock:
            self._assignment()

    def open(self) -> str:
        """Start a judge for every slot, side by side; return how they isolate student code.

        Raises:
            CannotGrade: they cannot start, or would not grade as elsewhere.
        """
        state = self._here
        with state.lock:
            if not state.sandbox:
                pool = self._pool()
                state.sandbox = self._named(lambda: pool.start(state.slots))
            state.last = time.monotonic()
            return state.sandbox

    def grade(self, job: GradeJob) -> GradeAnswer:
        """Have a submission of this machine graded.

        Raises:
            CannotGrade: no judge can start.
        """
        state = self._here
        with state.lock:
            pool = self._pool()
            state.busy += 1
        try:
            answer: GradeAnswer = self._named(lambda: pool.grade(job))
            return answer
        finally:
            with state.lock:
                state.busy -= 1
                state.last = time.monotonic()

    @property
    def _here(self) -> _State:
        assert self._state is not None
        return self._state

    def _assignment(self) -> Assignment:
        state = self._here
        if state.assignment is None:
            state.assignment = self._named(self._checked)
        return state.assignment

    def _checked(self) -> Assignment:
        address = self._here.address
        root = unpacked(self._bundle)
        assignment = load_assignment(root, self._bundle.name)
        reason = difference(address, recorded(assignment.packages), self._versions)
        if reason is None and assignment.suite_hash() != self._suite_hash:
            reason = other_code(address, self._versions[OURS])
        if reason is not None:
            raise _Different(reason)
        return assignment

    def _pool(self) -> WorkerPool:
        state = self._here
        if state.pool is None:
            state.pool = WorkerPool(self._assignment(), self._sandbox, state.started)
        return state.pool

    def _named(self, act: Any) -> Any:
        """Do something; whatever cannot be done is told with this worker's name."""
        try:
            return act()
        except _Different as error:
            raise CannotGrade(str(error)) from error
        except (UsageError, OSError) as error:
            raise CannotGrade(f"on the Dask worker {self._here.address}: {error}") from error

    def _end_when_idle(self, state: _State) -> None:
        while not state.ended.wait(self._idle_s / 4):
            with state.lock:
                if state.busy or time.monotonic() - state.last < self._idle_s:
                    continue
                pool, state.pool, state.sandbox = state.pool, None, ""
            if pool is not None:
                pool.close()


class _Different(Exception):
    """This machine would not grade as the one does where the run was started."""


class _State:
    """What a plugin has on its worker, which does not travel."""

    def __init__(self, address: str, slots: int) -> None:
        self.address = address
        self.slots = slots
        self.lock = threading.RLock()
        self.assignment: Assignment | None = None
        self.pool: WorkerPool | None = None
        self.sandbox = ""
        self.busy = 0
        self.last = time.monotonic()
        self.ended = threading.Event()
        # One thread, which is there as long as the Dask worker is.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="gradeformer")

    def started(self, assignment: Assignment, sandbox: str) -> Worker:
        """Start a judge, from the thread that stays."""
        return self._starter.submit(_judge, assignment, sandbox).result()

    def close(self) -> None:
        """End all judges."""
        with self.lock:
            pool, self.pool = self.pool, None
        if pool is not None:
            pool.close()
        # After them, or the kernel would end them before they have tidied up.
        self._starter.shutdown(wait=False)


def _judge(assignment: Assignment, sandbox: str) -> Worker:
    """Start a judge, in which SIGINT does what it does on one machine.

    A Dask worker of `local:N` is started with SIGINT blocked, and what it starts inherits that.
    """
    before = signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        return Worker(assignment, sandbox)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _slots(run: str, worker: Any) -> Slots:
    found = worker.plugins.get(run)
    if not isinstance(found, Slots):
        raise CannotGrade(
            f"the Dask worker {worker.address} knows nothing of this run: run it again"
        )
    return found


async def check(run: str, dask_worker: Any) -> str:
    """Say why this Dask worker would not grade as the others do; nothing if it would."""
    try:
        await asyncio.to_thread(_slots(run, dask_worker).check)
    except CannotGrade as refused:
        return str(refused)
    return ""


async def open_slots(run: str, dask_worker: Any) -> tuple[bool, str]:
    """Start the judges; return whether they are ready, and the sandbox in words or why not."""
    try:
        return True, await asyncio.to_thread(_slots(run, dask_worker).open)
    except CannotGrade as refused:
        return False, str(refused)


def grade(run: str, ticket: str, name: bytes, files: dict[str, bytes], line: bytes) -> None:
    """Grade a submission; the answer goes into the queue, as a judge writes it.

    As what a task returns it would be lost with this process, and the submission graded again.

    Args:
        run: the run's name.
        ticket: the name of a queue of the scheduler's; what is in it says how often this submission
            was begun.
        name: what the submission is called.
        files: what was taken in of it.
        line: the job, whose path is not of this machine.
    """
    worker = get_worker()
    answer: Answer
    try:
        answer = _graded(run, ticket, name, files, GradeJob.model_validate_json(line))
    except CannotGrade as refused:
        answer = Refused(reason=str(refused))
    except Exception as error:
        answer = Fault(reason=f"{type(error).__name__}: {error}")
    _told(worker, worker.scheduler.queue_put(name=ticket, data=written(answer)))


def _graded(run: str, ticket: str, name: bytes, files: dict[str, bytes], job: GradeJob) -> Answer:
    worker = get_worker()
    slots = _slots(run, worker)
    # The scheduler has acknowledged it before anything is run: it outlives this process.
    _told(worker, worker.scheduler.queue_put(name=ticket, data=worker.address))
    if _told(worker, worker.scheduler.queue_qsize(name=ticket)) > MOST_BEGUN:
        return Fault(reason=LOST)
    with tempfile.TemporaryDirectory(dir=worker.local_directory) as folder:
        place = laid_out(files, name, Path(folder))
        return slots.grade(job.model_copy(update={"path": bytes(place)}))


def _told(worker: Any, saying: Coroutine[Any, Any, Any]) -> Any:
    """Tell the scheduler something; return what it answers.

    Dask's own `Queue` would need a client in every Dask worker, and the scheduler would keep it
    for one that was lost.
    """
    return asyncio.run_coroutine_threadsafe(saying, worker.loop.asyncio_loop).result()
