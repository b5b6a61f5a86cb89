"""The reference behind the same API as the component under test. Judge's side only."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from autograder.exchange.executor import Executor
from autograder.exchange.messages import Reply, Request
from autograder.suite.plan import request_digest


class ReferenceSession:
    """Answers with the solution of one component, computing each answer once.

    Everyone is asked the same questions, so the answer to the n-th request of an example is kept
    under the example and n. A request that differs from the kept one is computed anew, after the
    requests before it have been performed.

    Args:
        folder: the solutions.
        name: the component.
        may_raise: whether an error is an answer (of a solution under test) or a fault.
    """

    def __init__(self, folder: Path, name: str, may_raise: bool = False) -> None:
        self._may_raise = may_raise
        self._executor = Executor(folder, name)
        import_apart(self._executor, folder)
        self._kept: dict[tuple[str, int], tuple[bytes, Reply]] = {}
        self._example = ""
        self._asked: list[Request] = []
        self._performed = 0

    def begin(self, example: str) -> None:
        """Start the example of this name."""
        self._example = example
        self._asked = []
        self._performed = 0

    def perform(self, request: Request) -> Reply:
        """Return the kept answer, or compute it."""
        self._asked.append(request)
        key = (self._example, len(self._asked))
        digest = request_digest(request)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == digest:
            return kept[1]
        for earlier in self._asked[self._performed :]:
            reply = self._executor.perform(earlier)
        self._performed = len(self._asked)
        if reply.error is not None and not self._may_raise:
            raise ReferenceFault(f"the reference raised {reply.error}")
        self._kept[key] = (digest, reply)
        return reply


class ReferenceFault(Exception):
    """A solution failed: a fault of the grader."""


def import_apart(executor: Executor, folder: Path) -> object:
    """Import and return a component apart from other modules, which have the same names.

    Raises:
        ReferenceFault: it cannot be imported.
    """
    names = [path.stem for path in folder.glob("*.py")]
    path_before = list(sys.path)
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    try:
        error = executor.load()
    finally:
        sys.path[:] = path_before
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
        importlib.invalidate_caches()
    if error is not None:
        raise ReferenceFault(f"the reference could not be imported: {error}")
    return executor.loaded
