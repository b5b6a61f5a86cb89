"""The suite on the judge's side: one collected pytest session that grades many submissions.

The examples of every property are drawn once, while the solutions are graded as a first
submission; every student is then given those same examples straight away.
"""

from __future__ import annotations

import contextlib
import copy
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.runner import runtestprotocol
from hypothesis.errors import UnsatisfiedAssumption

from autograder.suite.component import Component, Session
from autograder.suite.expect import Expect
from autograder.suite.lint import complaints
from autograder.suite.make import Make
from autograder.suite.plain import is_plain, outcome_of
from autograder.suite.plan import Planned, Recorder
from autograder.suite.plugin import (
    VIEWS,
    Criterion,
    SuitePlugin,
    component_of,
    criterion_of,
    drawings_of,
)
from autograder.suite.reference import ReferenceSession

EXAMPLES = 4


class SuiteFault(Exception):
    """The suite is broken: a solution loses points, or the points do not add up."""


def run_session(plugin: JudgePlugin, folders: Sequence[Path]) -> None:
    """Collect the tests in `folders` and let the plugin serve; returns when it is done.

    Raises:
        SuiteFault: the suite is broken.
    """
    quiet = [
        # None of these is needed to grade, and two of them cost seconds a run.
        *("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception"),
        *("logging", "warnings", "capture", "junitxml", "pastebin", "doctest", "unittest", "nose"),
        *("hypothesispytest", "stepwise", "debugging", "recwarn", "monkeypatch", "tmpdir"),
    ]
    arguments = [f"-pno:{name}" for name in quiet]
    arguments += ["--import-mode=importlib", "--assert=plain", "--rootdir", str(folders[0])]
    arguments += ["-c", os.devnull, "--noconftest", *map(str, folders)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.main(arguments, plugins=[plugin])
    if plugin.fault is not None:
        raise SuiteFault(str(plugin.fault)) from plugin.fault
    if not plugin.served:
        raise SuiteFault("pytest did not get as far as running the tests")


class JudgePlugin(SuitePlugin):
    """Collects the public and the hidden suite and runs criteria on any session.

    Args:
        solutions: the reference solutions.
        hidden: the folder of the hidden suite; every other test is public.
        totals: points by component, in order.
        seed: seeds the examples.
        serve: called once, when everything is collected and drawn.

    Attributes:
        criteria: by component, in order, public ones first.
        fault: what stopped the session, if anything did.
        served: whether everything was collected and drawn.
        plans: the requests of every criterion, as the solution was asked them.
        view_plans: the requests of what is shown of every component.
    """

    def __init__(
        self,
        solutions: Path,
        hidden: Path,
        totals: dict[str, float],
        seed: int,
        serve: Callable[[JudgePlugin], None],
    ) -> None:
        super().__init__()
        self.criteria: dict[str, list[Criterion]] = {name: [] for name in totals}
        self._solutions = solutions
        self._hidden = hidden
        self._totals = totals
        self._seed = seed
        self._serve = serve
        self._items: dict[str, pytest.Function] = {}
        self._plain: set[str] = set()
        self._session: Session | None = None
        self._component = ""
        self._references: dict[str, ReferenceSession] = {}
        self._examples: dict[str, list[dict[str, Any]]] = {}
        self._drawing = False
        self._failure: BaseException | None = None
        self.fault: BaseException | None = None
        self.served = False
        self.plans: dict[str, list[Planned]] = {}
        self.view_plans: dict[str, list[Planned]] = {}
        self._drawings: dict[str, Any] = {}

    def view(self, component: str, session: Session) -> list[dict[str, Any]]:
        """Return what the public suite shows of a component behind a session."""
        self._component = component
        self._session = session
        return self.views(component, self._drawings)

    def run(self, criterion: Criterion, session: Session) -> BaseException | None:
        """Run one criterion on a session; return what its test raised, or None if it passed."""
        item = self._items[criterion.id]
        self._component = criterion.component
        self._session = session
        self._failure = None
        if self._drawing or criterion.id not in self._plain:
            item._initrequest()
            runtestprotocol(item, log=False, nextitem=None)
        else:
            self._run_plainly(item)
        return self._failure

    def _run_plainly(self, item: pytest.Function) -> None:
        """Do what pytest would, without its fixtures and reports."""
        self.running = item.nodeid
        self.begin({})
        name = component_of(item.path)
        reference = Component(self._references[name], lambda answer: None)
        fixtures = {"component": self.under_test(name), "reference": reference}
        made = {**fixtures, "expect": Expect(), "make": Make()}
        given = {name: made[name] for name in item._fixtureinfo.argnames}
        self._failure = outcome_of(lambda: self._check(item, given))

    def plans_by_component(self) -> dict[str, list[list[Planned]]]:
        """Return the plans of every component's criteria, in order."""
        return {
            name: [self.plans[criterion.id] for criterion in criteria]
            for name, criteria in self.criteria.items()
        }

    def session(self, component: str) -> Session:
        """Return the session that is being graded."""
        assert self._session is not None, "no criterion is running"
        return self._session

    @pytest.fixture
    def reference(self, request: pytest.FixtureRequest) -> Component:
        """The solution of the component under test."""
        return Component(self._references[component_of(request.path)], lambda answer: None)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Draw few examples, without shrinking, explaining or keeping them."""
        super().pytest_configure(config)
        hypothesis.settings.register_profile(
            "gradeformer-judge",
            max_examples=EXAMPLES,
            phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
            deadline=None,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("gradeformer-judge")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """File every test under its component, public checks first."""
        paths = {item.path for item in items}
        views = {folder / VIEWS for folder in {path.parent for path in paths} - {self._hidden}}
        for path in sorted(paths | {path for path in views if path.is_file()}):
            for complaint in complaints(path):
                raise SuiteFault(complaint)
        for path in views:
            self._drawings |= drawings_of(path.parent)
        for item in items:
            assert isinstance(item, pytest.Function)
            visibility = "hidden" if item.path.is_relative_to(self._hidden) else "public"
            try:
                criterion = criterion_of(item, visibility)
            except pytest.UsageError as error:
                raise SuiteFault(str(error)) from error
            if criterion.component not in self.criteria:
                raise SuiteFault(f"{item.path.name} is about no component of the assignment")
            if criterion.id in self._items:
                raise SuiteFault(f"two criteria are called {criterion.id}")
            self._items[criterion.id] = item
            if is_plain(item):
                self._plain.add(criterion.id)
            self.criteria[criterion.component].append(criterion)
            hypothesis.seed(self._seed)(item.obj)
        for component, criteria in self.criteria.items():
            points = sum(criterion.points for criterion in criteria)
            if points != self._totals[component]:
                total = self._totals[component]
                raise SuiteFault(
                    f"the criteria of {component} add up to {points:g} points, "
                    f"assignment.toml gives it {total:g}"
                )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A test file that cannot be collected is a fault of the suite."""
        if report.failed:
            last = str(report.longrepr).strip().splitlines()[-1]
            self.fault = SuiteFault(f"{report.nodeid} cannot be collected: {last}")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Keep what stopped the session, for whoever started it."""
        self.fault = self.fault or excinfo.value
        return True

    def pytest_runtestloop(self) -> bool:
        """Grade the solutions, which draws the examples; then serve."""
        if self.fault is not None:
            raise self.fault
        self._drawing = True
        for component, criteria in self.criteria.items():
            self._references[component] = ReferenceSession(self._solutions, component)
            under_test = ReferenceSession(self._solutions, component, may_raise=True)
            for criterion in criteria:
                recorder = Recorder(under_test)
                failure = self.run(criterion, recorder)
                if failure is not None:
                    raise SuiteFault(f"the solution loses {criterion.id}: {failure}") from failure
                self.plans[criterion.id] = recorder.plan
            recorder = Recorder(under_test)
            self.view(component, recorder)
            self.view_plans[component] = recorder.plan
        self._drawing = False
        self.served = True
        self._serve(self)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """Keep what a test raised."""
        if call.excinfo is not None and self._failure is None:
            self._failure = call.excinfo.value
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run a test on the examples that were drawn for it.

        What it raises is kept here: pytest would parse source files to write it out, at ten
        times the cost of the check.
        """
        if self._drawing:
            return None
        given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        try:
            self._check(pyfuncitem, given)
        except (Exception, pytest.fail.Exception) as failure:
            self._failure = failure
        return True

    def _check(self, item: pytest.Function, given: dict[str, Any]) -> None:
        """Run a test; a property on the examples drawn for it, without Hypothesis."""
        handle = getattr(item.obj, "hypothesis", None)
        if handle is None:
            item.obj(**given)
            return
        for drawn in self._examples[item.nodeid]:
            self.begin(drawn)
            with contextlib.suppress(UnsatisfiedAssumption):
                handle.inner_test(**given, **drawn)

    def watching(self, item: pytest.Item, inner: Callable[..., None]) -> Callable[..., None]:
        """Keep a copy of every example that is drawn, before a test could change it."""
        run = super().watching(item, inner)
        if not self._drawing:
            return run
        fixtures = set(getattr(item, "fixturenames", ()))
        kept = self._examples.setdefault(item.nodeid, [])

        def keep(*args: Any, **kwargs: Any) -> None:
            kept.append(copy.deepcopy({k: v for k, v in kwargs.items() if k not in fixtures}))
            run(*args, **kwargs)

        return keep

    def begin(self, drawn: dict[str, Any]) -> None:
        """Give the reference a name for the example, under which it keeps its answers."""
        super().begin(drawn)
        reference = self._references.get(self._component)
        if reference is not None:
            reference.begin(f"{self.running}#{drawn!r}")
