"""Whether a component fails only because of another one that it builds on."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from autograder.suite.answer import StudentRaised
from autograder.suite.local import LocalSession, Terms

# The student's own file stays beside a stand-in under this name, for what only it has.
OWN = "own_"
_LACKING = """

def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    import {0}
    return getattr({0}, name)
"""


def completed(stand_in: str, name: str) -> str:
    """Return the text of a component's stand-in, which takes what it lacks from the own file."""
    return stand_in + _LACKING.format(f"{OWN}{name}")


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
        self._sessions: dict[tuple[str, ...], LocalSession | None] = {}

    def used_by(self, component: str) -> list[str]:
        """Return the components that this one uses and that something working stands in for."""
        terms = self._terms[component]
        # A program imports its modules anew whenever it runs, and would find the student's.
        return [name for name in terms.uses if name in self._stand_ins and not terms.program]

    def session(self, component: str, replaced: Sequence[str]) -> LocalSession | None:
        """Import a component with stand-ins for these; None where it cannot be imported so."""
        key = (component, *replaced)
        if key not in self._sessions:
            self._sessions[key] = self._import(component, replaced)
        return self._sessions[key]

    def guilty(
        self, component: str, broken: Sequence[str], run: Callable[[LocalSession], None]
    ) -> list[str]:
        """Return the broken components but for which a check would pass; none if it fails anyway.

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

    def _import(self, component: str, replaced: Sequence[str]) -> LocalSession | None:
        with tempfile.TemporaryDirectory() as made:
            place = Path(made)
            for path in self._folder.glob("*.py"):
                shutil.copyfile(path, place / path.name)
            for name in replaced:
                own = place / f"{name}.py"
                if own.is_file():
                    own.rename(place / f"{OWN}{name}.py")
                own.write_text(completed(self._stand_ins[name], name), encoding="utf-8")
            return _import_apart(place, component)


def _import_apart(folder: Path, name: str) -> LocalSession | None:
    """Import a component apart from the student's own modules, which have the same names."""
    names = [path.stem for path in folder.glob("*.py")]
    path_before = list(sys.path)
    hidden = {other: sys.modules.pop(other) for other in names if other in sys.modules}
    try:
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()
        session = LocalSession(folder, name)
    finally:
        sys.path[:] = path_before
        for other in names:
            sys.modules.pop(other, None)
        sys.modules.update(hidden)
        importlib.invalidate_caches()
    return None if session.load_error is not None else session


def may_be_upstream(failure: BaseException, component: str) -> bool:
    """Tell whether another component may be behind a failure; not if it stopped at its own stub."""
    if isinstance(failure, StudentRaised):
        error = failure.error
        stub = error.kind == "NotAttempted" and error.file == f"{component}.py"
        return error.kind != "Forbidden" and not stub
    return isinstance(failure, Exception)
