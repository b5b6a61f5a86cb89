"""Ordinary tests in the student's own pytest: which count, and what is said of failures."""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.api.criterion import Criterion
from autograder.api.executor import describe
from autograder.api.unwritten import raised_by_stub
from autograder.api.wording import error_words, first_cause, import_words
from autograder.student.local import student_lines
from autograder.student.watch import Timeout
from autograder.text import clean

# Characters of what pytest says of a failure.
_MAX_WORDS = 2000


class _FromTests(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a component where the tests import it as a module beside them.

    Args:
        folder: where the student's files are.
        components: their names.
    """

    def __init__(self, folder: Path, components: Iterable[str]) -> None:
        self._tests = folder / "tests"
        self._names = {f"tests.{name}": name for name in components}

    def find_spec(self, name: str, path: Any = None, target: object = None) -> ModuleSpec | None:
        """Find it, if no file of the tests has that name."""
        component = self._names.get(name)
        if component is None or (self._tests / f"{component}.py").is_file():
            return None
        return ModuleSpec(name, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the component itself, as it is imported by its own name."""
        return importlib.import_module(self._names[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Run nothing: it has been imported."""


class OrdinaryTests:
    """The tests of plain pytest in a handout.

    Args:
        folder: where the student's files are.
        stubs: the texts of the stubs, by file.
        listed: those that count, by file and name.
    """

    def __init__(
        self,
        folder: Path,
        stubs: Mapping[str, str],
        listed: Mapping[str, Mapping[str, Criterion]],
    ) -> None:
        self._folder = folder
        self._stubs = stubs
        self._listed = listed
        self._outcomes: dict[str, str] = {}

    def find_components(self, names: Iterable[str]) -> None:
        """Let tests that are a package import components as if they lay beside them."""
        sys.meta_path.insert(0, _FromTests(self._folder, names))

    def holds(self, item: pytest.Item) -> bool:
        """Return whether a test is one of plain pytest."""
        fixtures = getattr(item, "fixturenames", ())
        return item.path.name in self._listed or "component" not in fixtures

    def criterion(self, item: pytest.Item) -> Criterion | None:
        """Return the criterion of a test; None of one that does not count."""
        names = item.nodeid.partition("[")[0].split("::")[1:]
        return self._listed.get(item.path.name, {}).get(".".join(names))

    def of_file(self, path: Path) -> list[Criterion]:
        """Return the criteria of a test file."""
        return [*self._listed.get(path.name, {}).values()]

    def unread(self, report: Any) -> str:
        """Say in a sentence why a test file cannot be collected: what it imports is not right."""
        error = first_cause(report.call.excinfo.value)
        found = describe(error, "import", str(self._folder), self._stubs)
        is_own = bool(found.file) and (self._folder / found.file).is_file()
        return error_words(found) if is_own else import_words(error)

    def ends(self, item: pytest.Item, outcome: str) -> None:
        """Note how a part of a test ended, if it did not pass."""
        self._outcomes.setdefault(item.nodeid, outcome)

    def end(self, item: pytest.Item) -> str:
        """Return what became of a test."""
        return self._outcomes.pop(item.nodeid, "passed")

    def told(
        self, report: Any, criterion: Criterion, raised: pytest.ExceptionInfo[BaseException]
    ) -> tuple[list[str], str]:
        """Say what is wrong in a failed test: pytest's words, and the student's own lines.

        Returns:
            The lines, and what became of the test.
        """
        error = raised.value
        if raised_by_stub(error, str(self._folder), self._stubs):
            report.outcome = "skipped"
            report.longrepr = (str(self._folder), 0, "not written yet")
            report.gradeformer = "not attempted"
            return ["not written yet"], "not_attempted"
        crash = getattr(report.longrepr, "reprcrash", None)
        said = str(report.longrepr) if crash is None else str(crash.message)
        if isinstance(error, Timeout):
            said = str(error)
        lines = [clean(line, _MAX_WORDS) for line in said[:_MAX_WORDS].splitlines() if line.strip()]
        place = _place(raised)
        report.outcome = "failed"
        report.longrepr = "\n".join(
            [criterion.title, *lines, *place, *student_lines(error, self._folder)]
        )
        return [*lines, *place], "failed"


def _place(raised: pytest.ExceptionInfo[BaseException]) -> list[str]:
    """Return the last place in a test file that a failure passed through."""
    frames = [entry for entry in raised.traceback if Path(entry.path).parent.name == "tests"]
    return (
        [f"in tests/{Path(frames[-1].path).name}, line {frames[-1].lineno + 1}"] if frames else []
    )
