"""The solutions behind the same API as a component under test."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from autograder.exchange.executor import Executor
from autograder.exchange.messages import Reply, Request
from autograder.sandbox.wire import encode_request


class ReferenceFault(Exception):
    """A solution failed: a fault of the grader."""


class SolutionSession:
    """Answers with the solution of one component, as if it were a submission's.

    Args:
        folder: the solutions.
        name: the component.

    Raises:
        ReferenceFault: it cannot be imported.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._executor = Executor(folder, name)
        import_apart(self._executor, folder)

    def perform(self, request: Request) -> Reply:
        """Answer a request; what the solution raises is an answer, too."""
        return self._executor.perform(request)


class ReferenceSession(SolutionSession):
    """Answers with the solution of one component, computing each answer once.

    Everyone is asked the same questions, so the answer to the n-th request of an example is kept
    under the example and n. A request that differs from the kept one is computed anew, after the
    requests before it have been performed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder, name)
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
        """Return the kept answer, or compute it.

        Raises:
            ReferenceFault: the solution raised something.
        """
        self._asked.append(request)
        key = (self._example, len(self._asked))
        frame = encode_request(request, 0)
        kept = self._kept.get(key)
        if kept is not None and kept[0] == frame:
            return kept[1]
        for earlier in self._asked[self._performed :]:
            reply = super().perform(earlier)
        self._performed = len(self._asked)
        if reply.error is not None:
            raise ReferenceFault(f"the reference raised {reply.error}")
        self._kept[key] = (frame, reply)
        return reply


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
