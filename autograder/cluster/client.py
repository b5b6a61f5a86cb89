"""The near side: hands submissions to a cluster and waits for their results.

Whoever writes the results calls `Grader.grade` from as many threads as `threads`; each waits for
one submission. What is under way is all that is held here and by the scheduler.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import uuid
from typing import Any

from autograder.assignment import Assignment
from autograder.cluster.bundles import packed
from autograder.cluster.carrying import NotRead, NotTaken, Taken, taken_in
from autograder.cluster.connection import LOOK_EVERY_S, Connection
from autograder.cluster.naming import Wanted
from autograder.cluster.schedulers import Reached, reached
from autograder.cluster.versions import recorded
from autograder.grading.messages import (
    ANSWERS,
    Fault,
    GradeAnswer,
    GradeJob,
    Marked,
    Refused,
    Unchanged,
    written,
)
from autograder.grading.workers import CannotGrade, Tell, WorkerLost, unheard
from autograder.results import Graded, SubmissionResult
from autograder.sandbox.packages import versions

# Threads a slot: while one submission is graded the next is on its way.
_A_SLOT = 2
# For slots that come later; a thread that waits costs next to nothing.
_FEWEST_THREADS = 32
_MOST_THREADS = 2000
# So many submissions are read at a time, however many slots there are.
_READ_AT_ONCE = 4
_CLOSE_S = 30.0
# So often the judges are started, where all Dask workers are lost while they do.
_STARTS = 3
# So often Dask may blame a submission for some lost workers, without that it was ever begun.
_MOST_BLAMED = 25


class Grader:
    """Grades submissions on a cluster.

    Args:
        wanted: which cluster.
        assignment: what is graded.
        sandbox: how student code is isolated.

    Attributes:
        slots: how many submissions are graded side by side, as far as that is known.

    Raises:
        UsageError: the cluster cannot be reached.
    """

    def __init__(self, wanted: Wanted, assignment: Assignment, sandbox: str) -> None:
        self._assignment = assignment
        self._sandbox = sandbox
        self._run = f"gradeformer-{uuid.uuid4().hex}"
        self._suite_hash = assignment.suite_hash()
        self._versions = recorded(assignment.packages)
        self._description = ""
        self._reading = threading.Semaphore(_READ_AT_ONCE)
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._under_way: dict[threading.Event, Any] = {}
        # Why no submission can be graded any more.
        self._over: Exception | None = None
        self._closed = threading.Event()
        with contextlib.ExitStack() as stack:
            self._cluster: Reached = reached(wanted, stack)
            self._client = self._cluster.client
            self._stack = stack.pop_all()
        self._connection = Connection(self._cluster, self._closed)
        self.slots = self._cluster.slots

    @property
    def threads(self) -> int:
        """How many threads are to call `grade`, so that no slot waits."""
        return min(max(_A_SLOT * self.slots, _FEWEST_THREADS), _MOST_THREADS)

    def start(self, tell: Tell = unheard) -> str:
        """Start the judges of every Dask worker that is there; return how they isolate code.

        Raises:
            CannotGrade: there is no Dask worker, or one of them would not grade as this machine.
        """
        from autograder.cluster import far

        tell(f"waiting for Dask workers of {self._cluster.where}")
        self._connection.await_workers()
        tell("comparing versions")
        self._connection.compare(self._versions)
        tell("sending the assignment")
        slots = far.Slots(
            self._run, packed(self._assignment), self._sandbox, self._suite_hash, self._versions
        )
        self._connection.ask(self._client.register_plugin, slots, name=self._run)
        for reason in self._connection.everywhere(far.check, self._run).values():
            if reason:
                raise CannotGrade(reason)
        for _ in range(_STARTS):
            tell("starting the judges")
            answers = self._connection.everywhere(far.open_slots, self._run)
            for ready, said in answers.values():
                if not ready:
                    raise CannotGrade(said)
            if answers:
                break
            # All were lost meanwhile.
            self._connection.await_workers()
        else:
            raise self._connection.always_lost()
        kinds = sorted({said for _, said in answers.values()})
        self._description = kinds[0]
        there = self._connection.threads_there()
        self.slots = max(self.slots, sum(there.values()))
        threading.Thread(target=self._look, daemon=True).start()
        workers = f"{len(answers)} Dask worker{'s' * (len(answers) != 1)}"
        return f"{'; elsewhere '.join(kinds)} ({workers})"

    def grade(self, job: GradeJob) -> GradeAnswer:
        """Have a submission graded; the answer is that of one machine.

        Raises:
            CannotGrade: nothing can be graded any more.
            WorkerLost: the run was stopped.
        """
        try:
            with self._reading:
                taken = taken_in(job.place)
        except NotTaken as rejection:
            return Marked(result=self._rejected(job, str(rejection)))
        except NotRead as reason:
            return Fault(reason=str(reason))
        graded = Graded(
            submission_hash=taken.digest,
            suite_hash=job.suite_hash,
            seed=self._assignment.seed,
            versions=versions(tuple(self._assignment.packages)),
            accepted=job.accepted,
        )
        if job.known == graded:
            return Unchanged()
        return self._sent(job, taken)

    def close(self) -> None:
        """Leave the cluster; what is still being graded is not kept."""
        if self._closed.is_set():
            return
        self._closed.set()
        with self._lock:
            under_way = list(self._under_way.values())
        self._give_up(WorkerLost("the run was stopped"))
        # A cluster that hangs is left all the same.
        leaving = threading.Thread(target=self._leave, args=(under_way,), daemon=True)
        leaving.start()
        leaving.join(_CLOSE_S)
        self._stack.close()

    def _leave(self, under_way: list[Any]) -> None:
        with contextlib.suppress(Exception):
            self._client.cancel(under_way)
        # A cluster of our own ends with all that it has.
        if self._cluster.lasting:
            with contextlib.suppress(Exception):
                self._client.unregister_worker_plugin(self._run)

    def _sent(self, job: GradeJob, taken: Taken) -> GradeAnswer:
        from distributed import KilledWorker, Queue

        from autograder.cluster import far

        ticket = f"{self._run}-{next(self._numbers)}"
        name = os.fsencode(job.place.name)
        line = written(job.model_copy(update={"path": b"", "known": None}))
        begun = self._connection.ask(Queue, ticket, client=self._client)
        try:
            for attempt in range(_MOST_BLAMED):
                future = self._connection.ask(
                    self._client.submit,
                    *(far.grade, self._run, ticket, name, taken.files, line),
                    key=f"{ticket}-{attempt}",
                    pure=False,
                )
                self._await(future)
                error = future.exception() if future.status == "error" else None
                # Dask blames also what merely stood in the queue of lost workers; that which was
                # begun twice says so itself.
                if isinstance(error, KilledWorker):
                    continue
                if error is not None or future.cancelled():
                    raise self._gone(error)
                # Whatever has become of the Dask worker since. Beside it is who began.
                told = self._connection.ask(begun.get, batch=True)
                lines = [one for one in told if isinstance(one, bytes)]
                if not lines:
                    raise self._gone(None)
                answer = ANSWERS.validate_json(lines[0])
                break
            else:
                self._give_up(self._connection.always_lost())
                raise self._gone(None)
        finally:
            with contextlib.suppress(Exception):
                begun.close()
        if isinstance(answer, Refused):
            refused = CannotGrade(answer.reason)
            self._give_up(refused)
            raise refused
        if isinstance(answer, Marked | Unchanged | Fault):
            return answer
        return Fault(reason="no proper answer came")

    def _await(self, future: Any) -> None:
        """Wait until a future is done, or nothing can be graded any more."""
        done = threading.Event()
        with self._lock:
            self._under_way[done] = future
            over = self._over
        try:
            if over is None:
                future.add_done_callback(lambda _: done.set())
                done.wait()
                over = self._over if not future.done() else None
        finally:
            with self._lock:
                del self._under_way[done]
        if over is not None:
            raise over

    def _give_up(self, reason: Exception) -> None:
        with self._lock:
            self._over = self._over or reason
            for done in self._under_way:
                done.set()

    def _gone(self, error: BaseException | None) -> Exception:
        return self._over or self._connection.gone(error)

    def _look(self) -> None:
        """Look now and then whether there is any Dask worker, and as many as there should be."""
        last = time.monotonic()
        while not self._closed.wait(LOOK_EVERY_S):
            try:
                there = self._connection.threads_there()
                if there:
                    last = time.monotonic()
                if sum(there.values()) < self.slots:
                    with contextlib.suppress(Exception):
                        self._cluster.refill()
            except CannotGrade as gone:
                self._give_up(gone)
                return
            if time.monotonic() - last > self._cluster.patience_s:
                self._give_up(self._connection.nobody())
                return

    def _rejected(self, job: GradeJob, reason: str) -> SubmissionResult:
        return SubmissionResult(
            submission=job.id,
            assignment=self._assignment.name,
            status="rejected",
            score=0.0,
            max_score=self._assignment.max_score,
            sandbox=self._description,
            message=reason,
        )
