"""Grade a batch: workers side by side, results written one by one, unchanged work kept."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from autograder import results
from autograder.assignment import Assignment
from autograder.conversation import Worker, WorkerLost, patience_s
from autograder.entries import Entry
from autograder.results import SubmissionResult

_TRIES = 2

Progress = Callable[[SubmissionResult, bool], None]


class Batch:
    """Grades entries of one assignment and keeps the results in `out`.

    Args:
        assignment: what is graded.
        out: the folder of the results.
        sandbox: how student code is isolated.
        jobs: how many workers run side by side.
        resume: keep results of unchanged submissions.

    Attributes:
        regraded: the earlier and the new result of every submission that was graded again.
    """

    def __init__(
        self, assignment: Assignment, out: Path, sandbox: str, jobs: int, resume: bool
    ) -> None:
        self._assignment = assignment
        self._out = out
        self._sandbox = sandbox
        self._jobs = jobs
        self._resume = resume
        self._suite_hash = assignment.suite_hash()
        self.regraded: list[tuple[SubmissionResult, SubmissionResult]] = []
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._started: list[Worker] = []
        self._stopped = threading.Event()

    def start(self) -> str:
        """Start all workers side by side; return how they isolate student code.

        Raises:
            Refused: they cannot.
        """
        results.sweep(self._out)
        workers = [self._new_worker() for _ in range(self._jobs)]
        for worker in workers:
            worker.wait()
            self._idle.put(worker)
        return workers[0].sandbox

    def run(
        self, entries: Sequence[Entry], progress: Progress, executor: Executor | None = None
    ) -> list[SubmissionResult]:
        """Grade every entry and return the results in the order of `entries`.

        Args:
            entries: what is graded.
            progress: called after every submission with its result and whether it was kept.
            executor: runs the tasks; by default one thread a worker.
        """
        done: dict[str, SubmissionResult] = {}
        with contextlib.ExitStack() as stack:
            if executor is None:
                executor = stack.enter_context(ThreadPoolExecutor(self._jobs))
            futures = [executor.submit(self.grade, entry) for entry in entries]
            try:
                for future in as_completed(futures):
                    result, kept = future.result()
                    done[result.submission] = result
                    progress(result, kept)
            except BaseException:
                self._stopped.set()
                for future in futures:
                    future.cancel()
                raise
        return [done[entry.id] for entry in entries]

    def close(self) -> None:
        """End all workers; what is still being graded is not kept."""
        self._stopped.set()
        for worker in self._started:
            worker.close()

    def grade(self, entry: Entry) -> tuple[SubmissionResult, bool]:
        """Grade one entry; return its result and whether it was kept from an earlier run."""
        before = results.read(self._out, entry.id)
        known = before.graded if before is not None and self._resume else None
        path = os.fsencode(entry.path.absolute()).decode(errors="backslashreplace")
        job = {
            "id": entry.id,
            "path": str(entry.path.absolute()),
            "suite_hash": self._suite_hash,
            "known": known and known.model_dump(),
            "exempt": entry.exempt,
        }
        answer = self._ask(job)
        if "unchanged" in answer and before is not None:
            if before.path != path:
                self._write(before.model_copy(update={"path": path}))
            return before, True
        if "fault" in answer and self._stopped.is_set():
            # The run was stopped, not this submission at fault: it is graded in the next run.
            raise WorkerLost(answer["fault"])
        if "fault" in answer:
            result = self._plain(entry, "error", None, answer["fault"], self._sandbox)
        elif answer["status"] == "rejected":
            result = self._plain(entry, "rejected", 0.0, answer["message"], answer["sandbox"])
        else:
            result = SubmissionResult.model_validate(answer)
        result.path = path
        self._write(result)
        if before is not None:
            self.regraded.append((before, result))
        return result, False

    def _write(self, result: SubmissionResult) -> None:
        try:
            results.write(self._out, result)
        except OSError as error:
            path = results.path_of(self._out, result.submission)
            raise results.unwritable(path, error) from error

    def _ask(self, job: dict[str, Any]) -> dict[str, Any]:
        fault = ""
        for _ in range(_TRIES):
            if self._stopped.is_set():
                break
            with self._worker() as worker:
                try:
                    answer = worker.ask(job)
                except WorkerLost as lost:
                    answer = {"fault": str(lost)}
                # After a fault its sandbox's state is not known: the next try gets a new one.
                worker.usable = worker.usable and "fault" not in answer
            if {"unchanged", "status"} & answer.keys():
                return answer
            answer.setdefault("fault", "a worker gave no proper answer")
            fault = answer["fault"]
        return {"fault": fault}

    @contextlib.contextmanager
    def _worker(self) -> Iterator[Worker]:
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = self._new_worker()
            worker.wait()
        yield worker
        if worker.usable:
            self._idle.put(worker)
        else:
            # Now, not at the end: many submissions may each cost a worker.
            worker.close()

    def _new_worker(self) -> Worker:
        worker = Worker(self._assignment, self._sandbox, patience_s(self._assignment))
        self._started.append(worker)
        return worker

    def _plain(
        self, entry: Entry, status: str, score: float | None, message: str, sandbox: str
    ) -> SubmissionResult:
        return SubmissionResult.model_validate(
            {
                "submission": entry.id,
                "assignment": self._assignment.name,
                "status": status,
                "score": score,
                "max_score": self._assignment.max_score,
                "message": message,
                "sandbox": sandbox,
            }
        )
