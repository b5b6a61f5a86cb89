"""The submissions of a course, graded ahead of whoever asks for them, over all cores."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from autograder import results
from autograder.assignment import Assignment, find_root
from autograder.batch import Batch
from autograder.conversation import Refused
from autograder.entries import Entry, submission_in
from autograder.errors import UsageError
from autograder.results import SubmissionResult

# A worker holds some 500 MB: one that nobody needs is given back after this.
_IDLE_S = 60.0
# Submissions begun before they are asked for, a worker: enough that none of them waits, and few
# enough that their results fit into memory however large the class is.
_AHEAD = 4
ROOT_VARIABLE = "GRADEFORMER_ROOT"
_INSTALLED = Path(__file__).resolve().parents[2]


def project(given: str = "") -> Path:
    """Return the project that grades a course; it is never part of the course folder.

    Args:
        given: what the configuration names, if it names one; otherwise the environment variable
            `GRADEFORMER_ROOT` counts, or the project that this package was installed from.

    Raises:
        UsageError: none of these is a project.
    """
    named = given or os.environ.get(ROOT_VARIABLE, "")
    try:
        return find_root(Path(named) if named else _INSTALLED)
    except UsageError as error:
        where = f"{named} has no assignments/ and reference/" if named else "none is installed here"
        raise UsageError(
            f"the project that grades this course is not found ({where}): set {ROOT_VARIABLE} to "
            "the folder that holds assignments/ and reference/"
        ) from error


def entry_of(student: str, folder: Path, assignment: str) -> Entry:
    """Return the entry of a student whose files are in `folder`, as a batch would find it."""
    if folder.name == assignment:
        return Entry(student, submission_in(folder.parent, assignment))
    return Entry(student, folder)


def results_folder(course: Path, assignment: str) -> Path:
    """Return where the results of a course's assignment are kept."""
    return course / "gradeformer" / assignment


_Graded = Future[tuple[SubmissionResult, bool]]


class CourseGrader:
    """Grades submissions side by side and hands each result to whoever asks for it.

    Args:
        batch: what grades them; a worker that it has not started is started when there is work.
        jobs: how many submissions are graded side by side.
    """

    def __init__(self, batch: Batch, jobs: int) -> None:
        self._batch = batch
        self._most = _AHEAD * jobs
        self._futures: dict[str, _Graded] = {}
        self._tasks: queue.SimpleQueue[tuple[Entry, _Graded] | None] = queue.SimpleQueue()
        self._jobs = jobs
        self._refused: Refused | None = None
        for _ in range(jobs):
            # Daemons: an executor's threads would work off their queue before the process ends.
            threading.Thread(target=self._work, daemon=True).start()

    def ahead(self, coming: Iterator[Entry]) -> None:
        """Begin to grade some of what will be asked for; the iterator keeps the rest."""
        while len(self._futures) < self._most:
            entry = next(coming, None)
            if entry is None:
                break
            self.begin(entry)

    def result(self, entry: Entry) -> tuple[SubmissionResult, bool]:
        """Return the result of a submission as soon as it is there, and whether it was kept.

        Raises:
            Refused: nothing can be graded at all.
        """
        if self._refused is not None:
            raise self._refused
        self.begin(entry)
        try:
            return self._futures.pop(entry.id).result()
        except Refused as refused:
            # The rest would be refused for the same reason, each after a slow start.
            self._refused = refused
            self._cancel()
            raise

    def close(self) -> None:
        """End all workers; what is being graded is not kept."""
        self._cancel()
        for _ in range(self._jobs):
            self._tasks.put(None)
        self._batch.close()

    def begin(self, entry: Entry) -> None:
        """Begin to grade a submission, unless that is done."""
        if entry.id not in self._futures:
            self._futures[entry.id] = Future()
            self._tasks.put((entry, self._futures[entry.id]))

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            entry, future = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._batch.grade(entry))
                except BaseException as error:
                    future.set_exception(error)

    def _cancel(self) -> None:
        for future in self._futures.values():
            future.cancel()


@dataclass(frozen=True)
class Job:
    """How a course's assignment is graded.

    Args:
        assignment: the assignment.
        course: the course folder.
        sandbox: how student code is isolated.
        jobs: how many submissions are graded side by side.
        resume: keep the results of unchanged submissions.
    """

    assignment: Assignment
    course: Path
    sandbox: str
    jobs: int
    resume: bool

    @functools.cached_property
    def key(self) -> tuple[object, ...]:
        """What two jobs have in common that one grader can do; a changed suite is another."""
        suite = self.assignment.suite_hash()
        return (self.assignment, suite, self.course, self.sandbox, self.jobs, self.resume)


class _Kept:
    """Keeps the last grader warm from one use to the next, for a server that grades one by one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._key: tuple[object, ...] = ()
        self._grader: CourseGrader | None = None
        self._timer: threading.Timer | None = None
        atexit.register(self.close)

    @contextlib.contextmanager
    def use(self, job: Job) -> Iterator[CourseGrader]:
        """Lend the grader; only one use at a time, and nothing ends while it lasts."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._grader is None or job.key != self._key:
                self.close()
                self._key, self._grader = job.key, _grader_for(job)
            try:
                yield self._grader
            finally:
                self._timer = threading.Timer(_IDLE_S, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._grader is not None:
                self._grader.close()
            self._grader = None


def _grader_for(job: Job) -> CourseGrader:
    out = results_folder(job.course, job.assignment.name)
    try:
        (out / "results").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise results.unwritable(out, error) from error
    results.sweep(out)
    batch = Batch(job.assignment, out, job.sandbox, job.jobs, job.resume)
    return CourseGrader(batch, job.jobs)


_kept = _Kept()


def kept_grader(job: Job) -> contextlib.AbstractContextManager[CourseGrader]:
    """Lend the grader of a course's assignment, a warm one where there is one."""
    return _kept.use(job)
