"""Collect an assignment's suites: pytest finds tests, Hypothesis draws, a `Suite` comes back."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from autograder.assignment import Assignment
from autograder.judge.lint import complaints
from autograder.judge.suite import FIXTURES, Check, Suite, SuiteFault
from autograder.solutions.reference import ReferenceSession, SolutionSession
from autograder.suite.criterion import MARKER, criterion_of
from autograder.suite.run import VIEWS, drawings_of

EXAMPLES = 4
# None of these is needed to collect, and some cost seconds.
_QUIET = (
    *("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception"),
    *("logging", "warnings", "capture", "junitxml", "pastebin", "doctest", "unittest", "nose"),
    *("hypothesispytest", "stepwise", "debugging", "recwarn", "monkeypatch", "tmpdir"),
)


def collect(assignment: Assignment, seed: int | None = None) -> Suite:
    """Collect the public and the hidden suite and grade the solutions, which draws the examples.

    Args:
        assignment: whose.
        seed: seeds the examples; by default the assignment's own.

    Raises:
        SuiteFault: the suite is broken.
        ReferenceFault: a solution cannot be imported, or fails where it is compared with.
    """
    public, hidden = assignment.public / "tests", assignment.secret / "tests"
    # Tests take it up when they are imported.
    hypothesis.settings.register_profile(
        "gradeformer-judge",
        max_examples=EXAMPLES,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("gradeformer-judge")
    items = _found_in([public, hidden])
    paths = {item.path for item in items} | {public / VIEWS}
    for path in sorted(path for path in paths if path.is_file()):
        for complaint in complaints(path):
            raise SuiteFault(complaint)
    checks = _filed(items, hidden, assignment.totals)
    for component, found in checks.items():
        points = sum(check.criterion.points for check in found)
        if points != assignment.totals[component]:
            raise SuiteFault(
                f"the criteria of {component} add up to {points:g} points, "
                f"assignment.toml gives it {assignment.totals[component]:g}"
            )
        for check in found:
            if check.is_property:
                hypothesis.seed(assignment.seed if seed is None else seed)(check.function)
    references = {name: ReferenceSession(assignment.secret, name) for name in checks}
    suite = Suite(checks, references, drawings_of(public))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for component in checks:
            suite.meet(component, SolutionSession(assignment.secret, component))
    return suite


class _Collector:
    """Keeps what pytest collects."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []
        self.fault = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the marker, so that it is none that is unknown."""
        config.addinivalue_line("markers", MARKER)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the tests."""
        self.items = list(session.items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a test file that cannot be collected."""
        if report.failed and not self.fault:
            last = str(report.longrepr).strip().splitlines()[-1]
            self.fault = f"{report.nodeid} cannot be collected: {last}"


def _found_in(folders: list[Path]) -> list[pytest.Function]:
    """Return the tests in these folders, in order."""
    collector = _Collector()
    arguments = [f"-pno:{name}" for name in _QUIET]
    arguments += ["--import-mode=importlib", "--assert=plain", "--rootdir", str(folders[0])]
    arguments += ["-c", os.devnull, "--noconftest", "--collect-only", *map(str, folders)]
    loaded = set(sys.modules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = pytest.main(arguments, plugins=[collector])
    # Another assignment's test files have the same names.
    for name in set(sys.modules) - loaded:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if any(Path(file).is_relative_to(folder) for folder in folders):
            del sys.modules[name]
    if collector.fault:
        raise SuiteFault(collector.fault)
    if code != pytest.ExitCode.OK:
        raise SuiteFault(f"pytest found no tests to collect (it ended with {code})")
    functions = [item for item in collector.items if isinstance(item, pytest.Function)]
    for other in collector.items:
        if other not in functions:
            raise SuiteFault(f"{other.path.name}: {other.name} is no test function")
    return functions


def _filed(
    items: Iterable[pytest.Function], hidden: Path, totals: dict[str, float]
) -> dict[str, list[Check]]:
    """File every test under its component, public ones first."""
    checks: dict[str, list[Check]] = {name: [] for name in totals}
    known: set[str] = set()
    for item in items:
        visibility = "hidden" if item.path.is_relative_to(hidden) else "public"
        try:
            criterion = criterion_of(item, visibility)
        except pytest.UsageError as error:
            raise SuiteFault(str(error)) from error
        if criterion.component not in checks:
            raise SuiteFault(f"{item.path.name} is about no component of the assignment")
        if criterion.id in known:
            raise SuiteFault(f"two criteria are called {criterion.id}")
        known.add(criterion.id)
        parameters: dict[str, Any] = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        fixtures = _fixtures_of(item, criterion.id, parameters)
        check = Check(criterion, item.obj, fixtures, parameters)
        checks[criterion.component].append(check)
    return checks


def _fixtures_of(item: pytest.Function, name: str, parameters: dict[str, Any]) -> tuple[str, ...]:
    """Return the fixtures that a test takes.

    Raises:
        SuiteFault: it wants what the judge does not have.
    """
    if item.cls is not None:
        raise SuiteFault(f"{name}: a criterion is a plain function, not a method of a class")
    for mark in item.iter_markers():
        if mark.name not in ("criterion", "parametrize"):
            raise SuiteFault(f"{name}: the judge does not know the mark {mark.name!r}")
    # Those that apply by themselves, or by way of a mark, are among them.
    for wanted in item.fixturenames:
        if wanted not in FIXTURES and wanted not in parameters:
            raise SuiteFault(
                f"{name}: there is no fixture {wanted!r}; a test may ask for {', '.join(FIXTURES)}"
            )
    taken = inspect.signature(item.obj).parameters
    return tuple(fixture for fixture in FIXTURES if fixture in taken)
