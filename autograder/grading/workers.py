"""Worker processes: started fresh, asked one job at a time, replaced when they are lost."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from autograder.assignment import Assignment
from autograder.environment import for_marks, program
from autograder.errors import UsageError
from autograder.grading.messages import (
    ANSWERS,
    Answer,
    Fault,
    GradeAnswer,
    GradeJob,
    Job,
    Marked,
    Ready,
    Refused,
    Stage,
    Unchanged,
    written,
)

_TRIES = 2
_LEVELS = ("2", "3", "fast")
# By measurements of itself. Distributions, whose Python is the system's, do so by other means.
_PROFILED = ("--enable-optimizations", "-fprofile-use", "-fprofile-instr-use")
_SYSTEMS = "--prefix=/usr"
Tell = Callable[[str], None]


def cores() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slow_build(about: Mapping[str, Any] | None = None) -> str | None:
    """Say in a sentence that this Python was built without optimisation; None where it was not.

    Args:
        about: how it was built, as `sysconfig` has it; by default of this one.
    """
    found = sysconfig.get_config_vars() if about is None else about
    arguments, *flags = (str(found.get(n) or "") for n in ("CONFIG_ARGS", "OPT", "PY_CFLAGS"))
    # The compiler takes the last that it is given.
    level = re.findall(r"(?:^|\s)-O(\w*)", " ".join(flags))[-1:]
    if found.get("Py_DEBUG") or "--with-pydebug" in arguments:
        why = "with --with-pydebug"
    elif level and level[0] not in _LEVELS:
        why = f"with -O{level[0]}"
    # Of a build that says nothing, as on Windows, nothing is known.
    elif (
        arguments
        and f"'{_SYSTEMS}'" not in arguments
        and not any(word in " ".join([arguments, *flags]) for word in _PROFILED)
    ):
        why = "without --enable-optimizations"
    else:
        return None
    return (
        f"this Python was built {why} and grades more slowly than another: Debian's, python.org's "
        "and uv's builds are faster (docs/scale.md)"
    )


def patience_s(assignment: Assignment) -> float:
    """Return how long one submission may take before its worker is given up."""
    # What it does itself, and a busy machine, come on top: neither is the submission's.
    return 300.0 + 2 * assignment.submission_wall_s


def unheard(words: str) -> None:
    """Tell nobody."""


class WorkerLost(Exception):
    """A worker ended in the middle of its work."""


class CannotGrade(UsageError):
    """No worker can start: student code cannot be isolated, or the suite is broken."""


class SuiteBroken(CannotGrade):
    """A suite cannot be used to grade: a solution loses points, or it cannot be collected."""

    @property
    def lines(self) -> list[str]:
        """The message; the faults of a suite follow it, a line each."""
        return [line.strip() for line in str(self).splitlines()]


class Worker:
    """A worker process and the conversation with it.

    Args:
        assignment: what is graded.
        sandbox: how student code is isolated, one of the choices of `--sandbox`.
        checking: the component whose suite an author tries out, empty for all; None otherwise.
        standby: with `checking`: it reads the suites when `wait` is called, and not before.

    Attributes:
        ready: what it said when it had started.
        usable: False once the worker is lost, or its sandbox may be.
    """

    def __init__(
        self,
        assignment: Assignment,
        sandbox: str,
        checking: str | None = None,
        standby: bool = False,
    ) -> None:
        self.usable = True
        self._standby = standby
        self.ready = Ready(sandbox="")
        self._patience_s = patience_s(assignment)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        # Nothing is imported from the current folder, which may hold submissions.
        command = [sys.executable, "-P", "-c", program("autograder.judge.worker")]
        command += [str(assignment.root), assignment.name, sandbox]
        command += [] if checking is None else [checking]
        self._process = subprocess.Popen(
            [*command, "standby"] if standby else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=for_marks(),
        )

    @property
    def sandbox(self) -> str:
        """The sandbox in words."""
        return self.ready.sandbox

    @property
    def pid(self) -> int:
        """The id of its process."""
        return self._process.pid

    def wait(self, tell: Tell = unheard) -> None:
        """Wait until the worker is ready; `tell` is told what it does until then.

        Raises:
            CannotGrade: it cannot isolate student code, or the suite is broken.
        """
        try:
            tell("starting the judge")
            if self._standby:
                self._write(b"\n")
            while isinstance(hello := self._read(), Stage):
                tell(hello.words)
        except WorkerLost as lost:
            raise CannotGrade(f"the grader cannot start: {lost}") from lost
        if isinstance(hello, Refused):
            raise (SuiteBroken if hello.suite else CannotGrade)(hello.reason)
        assert isinstance(hello, Ready)
        self.ready = hello

    def ask(self, job: Job) -> Answer:
        """Have a job done.

        Raises:
            WorkerLost: the worker ended or took too long; it cannot be used again.
        """
        self._write(written(job))
        while isinstance(answer := self._read(), Stage):
            # What it makes for every job counts for none: the time begins again.
            continue
        return answer

    def _write(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except OSError as error:
            raise WorkerLost(self._last_words()) from error

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

    def _read(self) -> Answer:
        assert self._process.stdout is not None
        watch = threading.Timer(self._patience_s, self._process.kill)
        watch.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watch.cancel()
        if not line.endswith(b"\n"):
            raise WorkerLost(self._last_words())
        return ANSWERS.validate_json(line)

    def _last_words(self) -> str:
        self.usable = False
        status = self._process.wait()
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
        return f"a worker ended with status {status}{said}"


class WorkerPool:
    """The workers of this machine for one assignment.

    `grade` is a function of a job that can be pickled, so that another executor can stand in its
    place, on other machines too.

    Args:
        assignment: what is graded.
        sandbox: how student code is isolated.

    Linux ends a worker with the thread that started it (see `die_with_parent`), so the caller
    this must be a thread that stays.
    """

    def __init__(self, assignment: Assignment, sandbox: str) -> None:
        self._assignment = assignment
        self._sandbox = sandbox
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._started: list[Worker] = []
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether it was closed."""
        return self._stopped.is_set()

    def start(self, count: int, tell: Tell = unheard) -> str:
        """Start workers side by side; return how they isolate student code.

        Args:
            count: how many.
            tell: is told what the first of them does until it is ready.

        Raises:
            CannotGrade: they cannot.
        """
        workers = [self._new() for _ in range(count)]
        for number, worker in enumerate(workers):
            worker.wait(unheard if number else tell)
            self._idle.put(worker)
        return workers[0].sandbox

    def grade(self, job: GradeJob) -> GradeAnswer:
        """Have a submission graded; after a fault once more, by another worker.

        Raises:
            CannotGrade: no worker can start.
        """
        fault = Fault(reason="the run was stopped")
        for _ in range(_TRIES):
            if self.stopped:
                break
            with self._lent() as worker:
                try:
                    answer = worker.ask(job)
                except WorkerLost as lost:
                    answer = Fault(reason=str(lost))
                if isinstance(answer, Marked | Unchanged):
                    return answer
                # After a fault its sandbox's state is not known: the next try gets a new one.
                worker.usable = False
            fault = answer if isinstance(answer, Fault) else Fault(reason="no proper answer came")
        return fault

    def stop(self) -> None:
        """Begin no job any more."""
        self._stopped.set()

    def close(self) -> None:
        """End all workers; what is still being graded is not kept."""
        self.stop()
        for worker in self._started:
            worker.close()

    @contextlib.contextmanager
    def _lent(self) -> Iterator[Worker]:
        try:
            worker = self._idle.get_nowait()
        except queue.Empty:
            worker = self._new()
            worker.wait()
        yield worker
        if worker.usable:
            self._idle.put(worker)
        else:
            # Now, not at the end: many submissions may each cost a worker.
            worker.close()

    def _new(self) -> Worker:
        worker = Worker(self._assignment, self._sandbox)
        self._started.append(worker)
        return worker
