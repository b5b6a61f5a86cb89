"""A component in the student's own process, and what is known of it there."""

from __future__ import annotations

import contextlib
import importlib
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.api.executor import Executor
from autograder.api.guard import belongs_to
from autograder.api.messages import Reply, Request
from autograder.api.rules import Rules


class LocalSession:
    """Requests to the component in `folder`, imported into this process."""

    def __init__(self, folder: Path, name: str, program: bool = False, free: bool = False) -> None:
        self.executor = Executor(folder, name, program=program, free=free)
        self.load_error = self.executor.load()

    def perform(self, request: Request) -> Reply:
        """Answer with the component, or with why it could not be imported."""
        if self.load_error is not None:
            return Reply(error=self.load_error)
        return self.executor.perform(request)


@contextlib.contextmanager
def apart(names: Iterable[str]) -> Iterator[None]:
    """Import modules apart from those of the same names that are or will be imported here."""
    names, path_before = list(names), list(sys.path)
    hidden = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path_before
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)
        importlib.invalidate_caches()


@dataclass(frozen=True)
class Terms:
    """What a student's run knows of a component.

    Attributes:
        points: what it is worth in all.
        rules: what it may not use.
        program: whether it is run as a program.
        uses: the components that it may import.
        review: "hold" or "note": what becomes of work that is out of the ordinary.
        ordinary, unusual: what the assignment adds to what is ordinary, and what it takes away.
    """

    points: float
    rules: Rules = field(default_factory=Rules)
    program: bool = False
    uses: tuple[str, ...] = ()
    review: str = "hold"
    ordinary: tuple[str, ...] = ()
    unusual: tuple[str, ...] = ()


def student_lines(raised: BaseException | None, folder: Path) -> list[str]:
    """Write out the part of a traceback that is in the student's own files.

    Neither torch's own lines nor those of this machinery say anything to the student.
    """
    if raised is None:
        return []
    shown = [
        frame
        for frame in traceback.extract_tb(raised.__traceback__)
        if belongs_to(frame.filename, str(folder))
        and not belongs_to(frame.filename, str(folder / "tests"))
    ]
    return "".join(traceback.format_list(shown)).splitlines()
