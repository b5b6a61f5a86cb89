"""Grade a batch: the one scheduler, for a run of ours and for nbgrader's.

Jobs are done side by side, ahead of the caller; each result is written as soon as
it is there, and unchanged work is kept.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Literal

from autograder.assignment import Assignment
from autograder.grading import accepted, store
from autograder.grading.entries import Entry, doubled_words
from autograder.grading.messages import GradeAnswer, GradeJob, Marked, Unchanged
from autograder.grading.store import Held
from autograder.grading.workers import CannotGrade, Tell, WorkerLost, WorkerPool, unheard
from autograder.results import SubmissionResult, light

# Jobs begun before their results are asked for, a slot: enough that none of them waits, and few
# enough that what is not asked for yet fits into memory however large the class is.
_AHEAD = 4

Progress = Callable[[SubmissionResult, bool], None]
Task = Callable[[GradeJob], GradeAnswer]
# An earlier result, and what it became.
Regraded = tuple[SubmissionResult, SubmissionResult]
_Done = tuple[SubmissionResult, bool]


class Batch:
    """Grades entries of one assignment and keeps the results in `out`.

    Args:
        assignment: what is graded.
        out: the folder of the results.
        sandbox: how student code is isolated.
        jobs: how many submissions are graded side by side.
        resume: keep results of unchanged submissions.
        task: does a job; by default the workers of this machine do.

    Attributes:
        regraded: the earlier and the new result of every submission that was graded again.
        damaged: the ids whose earlier result could not be read, and which were graded again.

    Raises:
        UsageError: what was accepted in `out` cannot be read.
    """

    def __init__(
        self,
        assignment: Assignment,
        out: Path,
        sandbox: str,
        jobs: int,
        resume: bool,
        task: Task | None = None,
    ) -> None:
        # Read again for every job, as it may change meanwhile; what is damaged is said now.
        accepted.read(out)
        self._assignment = assignment
        self._out = out
        self._sandbox = sandbox
        self._jobs = jobs
        self._resume = resume
        self._suite_hash = assignment.suite_hash()
        self._pool = WorkerPool(assignment, sandbox)
        self._task = task or self._pool.grade
        self._begun: dict[str, Future[_Done]] = {}
        self._queue: queue.SimpleQueue[tuple[Entry, Future[_Done]] | None] = queue.SimpleQueue()
        self._refused: CannotGrade | None = None
        self.regraded: Held[Regraded] = Held()
        self.damaged: list[str] = []
        for _ in range(jobs):
            # Daemons: an executor's threads would work off their queue before the process ends.
            threading.Thread(target=self._work, daemon=True).start()

    def start(self, tell: Tell = unheard) -> str:
        """Start all workers side by side; return how they isolate student code.

        Without it each is started when there is work for it. `tell` is told what is being done.

        Raises:
            CannotGrade: they cannot.
        """
        store.sweep(self._out)
        return self._pool.start(self._jobs, tell)

    def begin(self, entry: Entry) -> None:
        """Begin to grade an entry, unless that is done."""
        if entry.id not in self._begun:
            self._begun[entry.id] = Future()
            self._queue.put((entry, self._begun[entry.id]))

    def ahead(self, coming: Iterator[Entry]) -> None:
        """Begin to grade some of what will be asked for; the iterator keeps the rest."""
        while len(self._begun) < _AHEAD * self._jobs:
            entry = next(coming, None)
            if entry is None:
                break
            self.begin(entry)

    def result(self, entry: Entry) -> tuple[SubmissionResult, bool]:
        """Return an entry's result as soon as it is there, and whether it was kept.

        Raises:
            CannotGrade: nothing can be graded at all.
        """
        if self._refused is not None:
            raise self._refused
        self.begin(entry)
        try:
            return self._begun.pop(entry.id).result()
        except CannotGrade as refused:
            # The rest would be refused for the same reason, each after a slow start.
            self._refused = refused
            self._cancel()
            raise

    def run(
        self, entries: Sequence[Entry], progress: Progress, whole: bool = True
    ) -> Sequence[SubmissionResult]:
        """Grade every entry and return the results in the order of `entries`.

        Args:
            entries: what is graded.
            progress: called after every submission with its result and whether it was kept.
            whole: return whole results; else what a list of the class needs: of a large one the
                whole results do not fit into memory, and lie in their files.
        """
        found: dict[str, SubmissionResult] = {}
        known = {entry.id: entry for entry in entries}
        coming = iter(entries)
        try:
            while len(found) < len(known):
                self.ahead(coming)
                wait(self._begun.values(), return_when=FIRST_COMPLETED)
                for name in [n for n, future in self._begun.items() if future.done()]:
                    result, kept = self.result(known[name])
                    found[name] = result if whole else light(result)
                    progress(result, kept)
        except BaseException:
            self._pool.stop()
            self._cancel()
            raise
        return [found[entry.id] for entry in entries]

    def close(self) -> None:
        """End all workers; what is still being graded is not kept."""
        self._cancel()
        # First, while the threads live: what a thread started ends with it, in the midst of things.
        self._pool.close()
        for _ in range(self._jobs):
            self._queue.put(None)

    def _work(self) -> None:
        while (asked := self._queue.get()) is not None:
            entry, future = asked
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._grade(entry))
                except BaseException as error:
                    future.set_exception(error)

    def keep(self, result: SubmissionResult) -> None:
        """Write a result once more, with other remarks."""
        store.write(self._out, result)

    def _cancel(self) -> None:
        for future in self._begun.values():
            future.cancel()

    def job(self, entry: Entry) -> GradeJob:
        """Return what a worker is asked about an entry, with what its earlier result is of."""
        return self._job(entry, store.read(self._out, entry.id))

    def _job(self, entry: Entry, before: SubmissionResult | None) -> GradeJob:
        return GradeJob(
            id=entry.id,
            path=os.fsencode(entry.path.absolute()),
            suite_hash=self._suite_hash,
            known=before.graded if before is not None and self._resume else None,
            exempt=entry.exempt,
            only=entry.only,
            diagnose=entry.diagnose,
            accepted=accepted.read(self._out).get(entry.id, {}),
        )

    def _grade(self, entry: Entry) -> _Done:
        before = store.read(self._out, entry.id)
        if entry.doubled:
            return self._doubled(entry, before)
        if before is None and store.is_damaged(self._out, entry.id):
            self.damaged.append(entry.id)
        job = self._job(entry, before)
        answer = self._task(job)
        path = job.path.decode(errors="backslashreplace")
        if isinstance(answer, Unchanged):
            assert before is not None
            if (before.path, before.late) != (path, entry.late):
                before = before.model_copy(update={"path": path, "late": entry.late})
                store.write(self._out, before)
            return before, True
        if isinstance(answer, Marked):
            result = answer.result.model_copy(update={"path": path, "late": entry.late})
        elif self._pool.stopped:
            # The run was stopped, not this submission at fault: the next run grades it.
            raise WorkerLost(answer.reason)
        else:
            result = self._without_mark(entry, "error", answer.reason)
            result = result.model_copy(update={"path": path, "late": entry.late})
        return self._written(before, result)

    def _doubled(self, entry: Entry, before: SubmissionResult | None) -> _Done:
        """Give an id that several entries have a result without a mark."""
        words = doubled_words(entry.id, entry.doubled)
        result = self._without_mark(entry, "rejected", words)
        if result == before:
            return result, True
        return self._written(before, result)

    def _without_mark(
        self, entry: Entry, status: Literal["rejected", "error"], message: str
    ) -> SubmissionResult:
        return SubmissionResult(
            submission=entry.id,
            assignment=self._assignment.name,
            status=status,
            score=None,
            max_score=self._assignment.max_score,
            message=message,
            sandbox=self._sandbox,
        )

    def _written(self, before: SubmissionResult | None, result: SubmissionResult) -> _Done:
        store.write(self._out, result)
        if before is not None:
            self.regraded.append((before, result))
        return result, False
