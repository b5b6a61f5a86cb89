"""A component in the student's own process, and what is known of it there."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from autograder.api.executor import Executor
from autograder.api.guard import belongs_to
from autograder.api.messages import Reply, Request
from autograder.api.rules import Rules


class Apart:
    """Within it, modules of these names are its own, and not those that others have imported.

    Args:
        names: the modules that it imports for itself, whenever it is entered.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = list(names)
        self._own: dict[str, ModuleType] = {}
        self._path: list[str] | None = None
        self._outside: tuple[dict[str, ModuleType], list[str]] = ({}, [])

    def __enter__(self) -> None:
        hidden = {name: sys.modules.pop(name) for name in self._names if name in sys.modules}
        self._outside = (hidden, list(sys.path))
        sys.modules.update(self._own)
        if self._path is not None:
            sys.path[:] = self._path
        importlib.invalidate_caches()

    def __exit__(self, *raised: object) -> None:
        found = {name: sys.modules.pop(name, None) for name in self._names}
        self._own = {name: module for name, module in found.items() if module is not None}
        self._path = list(sys.path)
        hidden, sys.path[:] = self._outside
        sys.modules.update(hidden)
        importlib.invalidate_caches()


class LocalSession:
    """Requests to the component in `folder`, imported into this process.

    Args:
        folder, name, program, free: as for `Executor`.
        apart: what it runs within, where its modules have the names of others.
        given: where `provided` lies, if not in `folder`.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        program: bool = False,
        free: bool = False,
        apart: Apart | None = None,
        given: Path | None = None,
    ) -> None:
        self.executor = Executor(
            folder, name, given=given, program=program, free=free, within=apart
        )
        self.load_error = self.executor.load()

    def perform(self, request: Request) -> Reply:
        """Answer with the component, or with why it could not be imported."""
        if self.load_error is not None:
            return Reply(error=self.load_error)
        return self.executor.perform(request)


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
