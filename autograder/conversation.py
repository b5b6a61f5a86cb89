"""A worker process and the conversation with it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Any

from autograder.assignment import Assignment
from autograder.errors import UsageError

# One thread each, before torch is imported: the worker and its zygote fork.
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


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
