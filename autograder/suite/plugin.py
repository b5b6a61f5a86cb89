"""The pytest plugin that both backends share: fixtures, criteria and drawn examples."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.exchange.messages import Reply, Request
from autograder.suite.answer import Answer, Question, StudentRaised
from autograder.suite.component import Component, Session
from autograder.suite.expect import Expect
from autograder.suite.make import Make
from autograder.suite.show import Show

VIEWS = "views.py"
# What a view may run into when a student's answer is not what it draws.
_UNSHOWN = (StudentRaised, AssertionError, TypeError, ValueError, RuntimeError, LookupError)


@dataclass(frozen=True)
class Criterion:
    """One scored statement: a test function, titled by the first line of its docstring."""

    id: str
    component: str
    title: str
    points: float
    source: str
    visibility: str


def drawings_of(folder: Path) -> dict[str, Any]:
    """Return the functions of a suite's views.py by component; none where there is no such file."""
    path = folder / VIEWS
    if not path.is_file():
        return {}
    # Not imported: in a submission's folder another file of this name could come first.
    namespace: dict[str, Any] = {"__name__": "views", "__file__": str(path)}
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102
    return namespace


def component_of(path: Path) -> str:
    """Return the component that a test file is about: test_<component>.py."""
    return path.stem.removeprefix("test_")


def criterion_of(item: pytest.Item, visibility: str) -> Criterion:
    """Read a test's criterion.

    Raises:
        pytest.UsageError: the title, points or source is missing.
    """
    component = component_of(item.path)
    function = inspect.unwrap(getattr(item, "obj"))  # noqa: B009 - `obj` is not on pytest.Item
    name = f"{component}.{item.name.removeprefix('test_')}"
    marker = item.get_closest_marker("criterion")
    title = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
    if marker is None or not {"points", "source"} <= set(marker.kwargs) or not title:
        raise pytest.UsageError(
            f"{name}: a criterion needs a docstring and "
            '@pytest.mark.criterion(points=..., source="...")'
        )
    points = float(marker.kwargs["points"])
    return Criterion(name, component, title, points, marker.kwargs["source"], visibility)


class _FreshSession:
    """Lets every example start without the modules that earlier ones built."""

    def __init__(self, plugin: SuitePlugin, component: str) -> None:
        self._plugin = plugin
        self._component = component

    def perform(self, request: Request) -> Reply:
        if self._component not in self._plugin.begun:
            self._plugin.begun.add(self._component)
            request.ops.insert(0, {"op": "reset"})
        return self._plugin.session(self._component).perform(request)


class SuitePlugin:
    """Fixtures `component`, `expect` and `make`; a backend supplies `session`."""

    def __init__(self) -> None:
        self.question: Question | None = None
        self.drawn: dict[str, Any] = {}
        self.begun: set[str] = set()
        self.running = ""

    def session(self, component: str) -> Session:
        """Return the session that carries requests to this component."""
        raise NotImplementedError

    def observe(self, answer: Answer) -> None:
        """Remember the last call, which failure messages name."""
        self.question = answer.question

    def begin(self, drawn: dict[str, Any]) -> None:
        """Note that a test, or the next example of a property, begins."""
        self.drawn = drawn
        self.question = None
        self.begun.clear()

    def views(self, component: str, drawings: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what the suite's views.py shows of a component, as far as it gets."""
        draw = drawings.get(component)
        show = Show()
        if draw is None:
            return []
        self.begin({})
        # What comes back may be of any shape, and may be an error: the checks speak of that.
        with contextlib.suppress(*_UNSHOWN):
            draw(self.under_test(component), show)
        return show.views

    def under_test(self, component: str) -> Component:
        """Return a component as a test gets it."""
        return Component(_FreshSession(self, component), self.observe)

    @pytest.fixture
    def component(self, request: pytest.FixtureRequest) -> Component:
        """The component under test, named by the test file."""
        return self.under_test(component_of(request.path))

    @pytest.fixture
    def expect(self) -> Expect:
        """Expectations that fail in words a student understands."""
        return Expect()

    @pytest.fixture
    def make(self) -> Make:
        """Seeded tensors."""
        return Make()

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the marker, so that `--strict-markers` accepts it."""
        config.addinivalue_line(
            "markers", "criterion(points, source): what this check is worth and where it comes from"
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Begin the test; for a property, begin every example it draws."""
        self.running = item.nodeid
        self.begin({})
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is None:
            return (yield)
        inner = handle.inner_test
        handle.inner_test = self.watching(item, inner)
        try:
            return (yield)
        finally:
            handle.inner_test = inner

    def watching(self, item: pytest.Item, inner: Callable[..., None]) -> Callable[..., None]:
        """Wrap a property's inner test, so that every example is noted before it runs."""
        fixtures = set(getattr(item, "fixturenames", ()))

        @functools.wraps(inner)
        def run(*args: Any, **kwargs: Any) -> None:
            self.begin({key: value for key, value in kwargs.items() if key not in fixtures})
            inner(*args, **kwargs)

        return run
