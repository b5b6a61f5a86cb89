"""Components in the student's own process, and working ones in the place of those that they use."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import tempfile
import traceback
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType

import pytest

from autograder.api.answer import StudentRaised
from autograder.api.executor import Executor
from autograder.rules.files import is_of, module_name
from autograder.rules.forbidden import Rules
from autograder.rules.guard import belongs_to


class Apart:
    """A context in which modules of these names are separate from those imported outside.

    Args:
        names: the modules; those that were imported inside are there again at the next entry.
        own: those that are there from the beginning.

    Attributes:
        own: those that are there at the next entry.
    """

    def __init__(self, names: Iterable[str], own: Mapping[str, ModuleType] | None = None) -> None:
        self._names = list(dict.fromkeys(names))
        self.own = dict(own or {})
        self._path: list[str] | None = None
        self._outside: tuple[dict[str, ModuleType], list[str]] = ({}, [])

    def __enter__(self) -> None:
        hidden = {name: sys.modules.pop(name) for name in self._names if name in sys.modules}
        self._outside = (hidden, list(sys.path))
        sys.modules.update(self.own)
        if self._path is None:
            # Its files may have been written a moment ago.
            importlib.invalidate_caches()
        else:
            sys.path[:] = self._path

    def __exit__(self, *raised: object) -> None:
        found = {name: sys.modules.pop(name, None) for name in self._names}
        self.own = {name: module for name, module in found.items() if module is not None}
        self._path = list(sys.path)
        hidden, sys.path[:] = self._outside
        sys.modules.update(hidden)


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
        stubs: the texts that the student was given, by file.
    """

    points: float
    rules: Rules = field(default_factory=Rules)
    program: bool = False
    uses: tuple[str, ...] = ()
    review: str = "hold"
    ordinary: tuple[str, ...] = ()
    unusual: tuple[str, ...] = ()
    stubs: Mapping[str, str] = field(default_factory=dict)


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


def own_files(folder: Path, components: Iterable[str]) -> dict[str, bytes]:
    """Return a student's modules, and those of components that are packages, by relative path."""
    inner = [path for name in components for path in (folder / name).rglob("*.py")]
    paths = [*folder.glob("*.py"), *inner]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# The student's own file stays beside a stand-in under this name, for what only it has.
OWN = "own_"
_LACKING = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import {0}
    return getattr({0}, name)
"""


def files_of(components: Iterable[str]) -> frozenset[str]:
    """Return the files of components, and those that stay beside their stand-ins."""
    return frozenset(f"{prefix}{name}.py" for name in components for prefix in ("", OWN))


def with_stand_ins(files: Mapping[str, bytes], stand_ins: Mapping[str, str]) -> dict[str, bytes]:
    """Put stand-ins in the place of components; names they lack come from the student's file.

    Args:
        files: the student's files, by name.
        stand_ins: the text of each stand-in, by component.
    """
    working = dict(files)
    for name, text in stand_ins.items():
        for file in filter(lambda file: is_of(file, name), files):
            working[f"{OWN}{file}"] = working.pop(file)
        working[f"{name}.py"] = (text + _LACKING.format(f"{OWN}{name}")).encode()
    return working


class Upstream:
    """The student's components, each with working ones in the place of those that it uses.

    Args:
        folder: where the student's files are.
        terms: those of every component.
        stand_ins: working components, by name; none for one that no other uses.
    """

    def __init__(
        self, folder: Path, terms: Mapping[str, Terms], stand_ins: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._terms = terms
        self._stand_ins = stand_ins
        self._sessions: dict[tuple[str, ...], Executor | None] = {}

    def used_by(self, component: str) -> list[str]:
        """Return the components that this one uses and that something working stands in for."""
        terms = self._terms[component]
        # A program imports its modules again whenever it runs, and would find the student's.
        return [name for name in terms.uses if name in self._stand_ins and not terms.program]

    def waited_for(self, component: str) -> list[str]:
        """Return the components that this one uses and that nothing here stands in for."""
        terms = self._terms[component]
        return [name for name in terms.uses if name not in self._stand_ins and not terms.program]

    def session(self, component: str, replaced: Sequence[str]) -> Executor | None:
        """Import a component with stand-ins for these; None where it cannot be imported so."""
        key = (component, *replaced)
        if key not in self._sessions:
            self._sessions[key] = self._import(component, replaced)
        return self._sessions[key]

    def guilty(
        self, component: str, broken: Sequence[str], run: Callable[[Executor], None]
    ) -> list[str]:
        """Return the broken components without which a check would pass; none if it fails anyway.

        Args:
            component: the one that is checked.
            broken: those that it uses and that have failed themselves.
            run: runs the check again; what it raises is a failure.
        """
        tried = [[name] for name in broken]
        for replaced in [*tried, list(broken)] if len(broken) > 1 else tried:
            working = self.session(component, replaced)
            if working is None:
                continue
            with contextlib.suppress(Exception, pytest.skip.Exception):
                run(working)
                return replaced
        return []

    def _import(self, component: str, replaced: Sequence[str]) -> Executor | None:
        files = own_files(self._folder, self._terms)
        files = with_stand_ins(files, {name: self._stand_ins[name] for name in replaced})
        made = Path(tempfile.mkdtemp())
        # It stays as long as the session, which may import more when it is asked.
        weakref.finalize(self, shutil.rmtree, made, ignore_errors=True)
        for name, data in files.items():
            Path(made, name).parent.mkdir(parents=True, exist_ok=True)
            Path(made, name).write_bytes(data)
        # The student's own modules have the same names.
        own = Apart(module_name(file) for file in files)
        session = Executor(made, component, given=self._folder, within=own)
        return None if session.load_error is not None else session


@contextlib.contextmanager
def noting_files(folder: Path, found: set[str]) -> Iterator[None]:
    """Note the names of the files of a folder of which code runs inside."""

    def note(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and belongs_to(file, str(folder)):
            found.add(Path(file).name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(before)


def may_be_upstream(failure: BaseException, component: str) -> bool:
    """Return whether another component may be the cause: not of a stub or a forbidden use."""
    if isinstance(failure, StudentRaised):
        error = failure.error
        stub = error.kind == "NotAttempted" and error.file == f"{component}.py"
        return error.kind != "Forbidden" and not stub
    return isinstance(failure, Exception)
