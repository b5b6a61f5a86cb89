"""The command's side of a cluster: each submission is one Dask task, and its answer is awaited.

Dask begins again what a lost worker had begun, and gives up a task that has lost too many workers.
A task is one submission: of a chunk of them all would be begun again, and all blamed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
import uuid
from collections.abc import Mapping
from typing import Any

from autograder.assignment import Assignment
from autograder.grading import messages
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked
from autograder.grading.workers import CannotGrade, Tell, WorkerLost, unheard
from autograder.judge.begin import begin
from autograder.platforms.cluster.carrying import difference, packed, recorded
from autograder.platforms.cluster.schedulers import Address, Wanted, reached
from autograder.sandbox.packages import OURS

_GONE = (
    "the Dask scheduler of {where} does no more work for this run ({said}): what is done is kept; "
    "run the command again when it is back"
)
_NOBODY = (
    "there is no Dask worker of {where} for {patience_s:g} s: start some (`dask worker ADDRESS`); "
    "what is done is kept, and the same command goes on"
)


class Grader:
    """Grades submissions on a cluster, `slots` of them side by side, as far as that is known.

    Raises:
        UsageError: the cluster cannot be reached.
    """

    def __init__(self, wanted: Wanted, assignment: Assignment, sandbox: str) -> None:
        self._assignment, self._sandbox = assignment, sandbox
        self._run = f"gradeformer-{uuid.uuid4().hex}"
        self._lasting = isinstance(wanted, Address)
        self._description = ""
        self._numbers = itertools.count()
        self._under_way: set[Any] = set()
        # Why no submission can be graded any more.
        self._over: Exception | None = None
        with contextlib.ExitStack() as stack:
            self._cluster = reached(wanted, stack)
            self._stack = stack.pop_all()
        self._client = self._cluster.client
        self.slots = self._cluster.slots

    @property
    def threads(self) -> int:
        """How many threads are to call `grade`, so that no Dask worker waits."""
        # While one submission is graded the next is sent; Dask workers may join later.
        return min(max(2 * self.slots, 32), 2000)

    def start(self, tell: Tell = unheard) -> str:
        """Start the judges of every Dask worker that is there; return how they isolate code.

        Raises:
            CannotGrade: there is no Dask worker, or one of them would not grade as this machine.
        """
        try:
            said = self._started(tell)
            self.slots = max(self.slots, sum(self._client.nthreads().values()))
        except CannotGrade:
            raise
        except TimeoutError as error:
            raise self._cannot(_NOBODY) from error
        except Exception as error:
            raise self._cannot(_GONE, error) from error
        self._description = min(said)
        threading.Thread(target=self._look, daemon=True).start()
        kinds, count = "; elsewhere ".join(sorted(set(said))), len(said)
        return f"{kinds} ({count} Dask worker{'s' * (count != 1)})"

    def _started(self, tell: Tell) -> list[str]:
        from autograder.platforms.cluster import far

        tell(f"waiting for Dask workers of {self._cluster.where}")
        self._client.wait_for_workers(1, timeout=self._cluster.patience_s)
        tell("comparing versions")
        here = recorded(self._assignment.packages)
        found = self._client.get_versions(packages=[OURS])
        sides = {f"worker {address}": about for address, about in found["workers"].items()}
        # What they are sent needs it to be read. The plugin compares everything else.
        for side, about in {"scheduler": found["scheduler"], **sides}.items():
            if reason := difference({OURS: about["packages"][OURS] or "unknown"}, here):
                raise CannotGrade(f"on the Dask {side}: {reason}")
        tell("sending the assignment")
        graded = self._assignment
        judges = far.Judges(
            *(self._run, graded.name, packed(graded), self._sandbox, graded.suite_hash(), here)
        )
        # A cluster of our own ends with all that it has.
        if self._lasting:
            self._client.register_plugin(far.Leaving(self._run, self._client.id))
        self._client.register_plugin(judges)
        tell("starting the judges")
        # Dask workers that are lost meanwhile are left out.
        answers = self._client.run(far.start, self._run, on_error="ignore").values()
        if refused := [said for ready, said in answers if not ready]:
            raise CannotGrade(refused[0])
        if not answers:
            raise OSError("all Dask workers were lost while they started")
        return [said for _, said in answers]

    def grade(self, job: GradeJob) -> GradeAnswer:
        """Have a submission graded, unless it is rejected or unchanged; as on one machine.

        Raises:
            CannotGrade: nothing can be graded any more.
            WorkerLost: the run was stopped.
        """
        try:
            begun = begin(self._assignment, job, self._description)
        except Exception as error:
            return Fault(reason=f"{type(error).__name__}: {error}")
        return self._sent(job, *begun[0]) if isinstance(begun, tuple) else begun

    def close(self) -> None:
        """Leave the cluster; what is still being graded is not kept."""
        self._give_up(WorkerLost("the run was stopped"))
        with contextlib.suppress(Exception):
            self._stack.close()

    def _sent(
        self, job: GradeJob, files: Mapping[str, bytes], remarks: dict[str, list[str]]
    ) -> GradeAnswer:
        from distributed import KilledWorker

        from autograder.platforms.cluster import far

        line = messages.written(
            job.model_copy(update={"path": b"", "known": None, "remarks": remarks})
        )
        future = None
        try:
            words = (self._run, os.fsencode(job.place.name), files, line)
            key = (self._run, next(self._numbers))
            future = self._client.submit(far.grade, *words, key=key, retries=1)
            self._under_way.add(future)
            if self._over is not None:
                raise self._over
            error = future.exception()
            answer = None if error else messages.ANSWERS.validate_json(future.result())
        except Exception as problem:
            raise self._over or self._cannot(_GONE, problem) from problem
        finally:
            self._under_way.discard(future)
        if isinstance(error, KilledWorker):
            return Fault(
                reason=f"the Dask worker that graded it was lost {error.allowed_failures + 1} "
                "times: it is not tried again in this run; run the command again to try once more"
            )
        if isinstance(answer, messages.Refused):
            raise self._give_up(CannotGrade(answer.reason))
        if isinstance(answer, Marked | Fault):
            return answer
        return Fault(reason=f"{type(error).__name__}: {error}")

    def _give_up(self, reason: Exception) -> Exception:
        """Let the caller that waits for a submission raise `reason`; return it."""
        self._over = self._over or reason
        with contextlib.suppress(Exception):
            self._client.cancel(list(self._under_way))
        return reason

    def _look(self) -> None:
        """Look now and then whether there is any Dask worker."""
        last = time.monotonic()
        while self._over is None:
            time.sleep(1.0)
            try:
                if self._client.nthreads():
                    last = time.monotonic()
                elif time.monotonic() - last > self._cluster.patience_s:
                    self._give_up(self._cannot(_NOBODY))
            except Exception as error:
                self._give_up(self._cannot(_GONE, error))

    def _cannot(self, sentence: str, error: BaseException | None = None) -> CannotGrade:
        words = self._cluster._asdict() | {"said": f"{type(error).__name__}: {str(error)[:200]}"}
        return CannotGrade(sentence.format(**words))
