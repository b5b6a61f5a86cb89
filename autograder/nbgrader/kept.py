"""The batch of a course's assignment, kept warm between submissions that nbgrader grades singly."""

from __future__ import annotations

import atexit
import contextlib
import functools
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.grading import store
from autograder.grading.batch import Batch
from autograder.nbgrader.places import results_folder

# A worker holds some 500 MB: one that nobody needs is given back after this.
_IDLE_S = 60.0


@dataclass(frozen=True)
class CourseAssignment:
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
        """What two uses have in common that one batch can serve; a changed suite is another."""
        suite = self.assignment.suite_hash()
        return (self.assignment, suite, self.course, self.sandbox, self.jobs, self.resume)


class _Kept:
    """Keeps the last batch warm from one use to the next, for a server that grades one by one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._key: tuple[object, ...] = ()
        self._batch: Batch | None = None
        self._timer: threading.Timer | None = None
        atexit.register(self.close)

    @contextlib.contextmanager
    def use(self, what: CourseAssignment) -> Iterator[Batch]:
        """Lend the batch; only one use at a time, and nothing ends while it lasts."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._batch is None or what.key != self._key:
                self.close()
                self._key, self._batch = what.key, _batch_for(what)
            try:
                yield self._batch
            finally:
                self._timer = threading.Timer(_IDLE_S, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._batch is not None:
                self._batch.close()
            self._batch = None


def _batch_for(what: CourseAssignment) -> Batch:
    out = results_folder(what.course, what.assignment.name)
    store.make_writable(out)
    store.sweep(out)
    return Batch(what.assignment, out, what.sandbox, what.jobs, what.resume)


_kept = _Kept()


def kept_batch(what: CourseAssignment) -> contextlib.AbstractContextManager[Batch]:
    """Lend the batch of a course's assignment, a warm one where there is one."""
    return _kept.use(what)
