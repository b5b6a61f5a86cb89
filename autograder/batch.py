"""Grade a batch: workers side by side, results written one by one, unchanged work kept."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from autograder import results
from autograder.assignment import Assignment
from autograder.entries import Entry
from autograder.errors import UsageError
from autograder.results import SubmissionResult

# One thread each, before torch is imported: the worker and its zygote fork.
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_TRIES = 2

Progress = Callable[[SubmissionResult, bool], None]


def patience_s(assignment: Assignment) -> float:
    """Return how long one submission may take before its worker is given up."""
    limits = assignment.limits
    slowest = limits.component_wall_s + (limits.deaths + 1) * limits.call_wall_s
    # Twice, because a component may be graded once more with stand-ins.
    return 120.0 + 2 * slowest * len(assignment.components)


class WorkerLost(Exception):
    """A worker ended in the middle of its work."""


class Refused(UsageError):
    """The workers cannot start: student code cannot be isolated, or the suite is broken."""


class Worker:
    """A worker process and the conversation with it.

    Args:
        assignment: what is graded.
        sandbox: how student code is isolated, one of the choices of `--sandbox`.
        patience_s: how long one submission may take before the worker is given up.

    Attributes:
        sandbox: the sandbox in words.
        usable: False once the worker is lost, or its sandbox may be.
    """

    def __init__(self, assignment: Assignment, sandbox: str, patience_s: float) -> None:
        self.usable = True
        self._patience_s = patience_s
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        command = [sys.executable, "-m", "autograder.worker"]
        self._process = subprocess.Popen(
            [*command, str(assignment.root), assignment.name, sandbox],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env={**os.environ, **_SINGLE},
        )
        self.sandbox = ""

    def wait(self) -> None:
        """Wait until the worker is ready.

        Raises:
            Refused: it cannot isolate student code, or the suite is broken.
        """
        try:
            hello = self._read()
        except WorkerLost as lost:
            raise Refused(f"the grader cannot start: {lost}") from lost
        if "refused" in hello:
            raise Refused(hello["refused"])
        self.sandbox = hello["sandbox"]

    def ask(self, job: dict[str, Any]) -> dict[str, Any]:
        """Have one submission graded, or one of its criteria explained.

        Raises:
            WorkerLost: the worker ended or took too long; it cannot be used again.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(job).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerLost(self._last_words()) from error
        return self._read()

    def close(self) -> None:
        """End the worker and all it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        watch = threading.Timer(self._patience_s, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        if not line.endswith(b"\n"):
            raise WorkerLost(self._last_words())
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        self.usable = False
        status = self._process.wait()
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
        return f"a worker ended with status {status}{said}"


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
