"""The suite as a value: criteria with the examples drawn for them, run on any session.

The examples of every property are drawn once, while the solutions are graded as a first
submission; every student is then given those same examples straight away.
"""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis.errors import UnsatisfiedAssumption

from autograder.solutions.plan import Planned, Recorder
from autograder.solutions.reference import ReferenceSession, SolutionSession
from autograder.suite.answer import Question
from autograder.suite.component import Component, Session
from autograder.suite.criterion import Criterion
from autograder.suite.expect import Expect
from autograder.suite.make import Make
from autograder.suite.run import Run

FIXTURES = ("component", "reference", "expect", "make")


class SuiteFault(Exception):
    """The suite is broken: a solution loses points, or the points do not add up."""


@dataclass
class Check:
    """A criterion's test, ready to run.

    Attributes:
        function: the test, wrapped by Hypothesis if it is a property.
        fixtures: the names of the fixtures that it takes.
        parameters: what it was parametrized with.
        examples: what was drawn for a property.
    """

    criterion: Criterion
    function: Callable[..., object]
    fixtures: tuple[str, ...]
    parameters: Mapping[str, Any]
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_property(self) -> bool:
        """Whether Hypothesis draws examples for it."""
        return hasattr(self.function, "hypothesis")

    def run(self, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]) -> None:
        """Run the test; a property on the examples drawn for it, without Hypothesis."""
        arguments = {**{name: given[name] for name in self.fixtures}, **self.parameters}
        if not self.is_property:
            begin({})
            self.function(**arguments)
            return
        inner: Callable[..., object] = getattr(self.function, "hypothesis").inner_test  # noqa: B009
        for drawn in self.examples:
            begin(drawn)
            with contextlib.suppress(UnsatisfiedAssumption):
                inner(**arguments, **drawn)

    def draw(self, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]) -> None:
        """Run the test as Hypothesis does, and keep a copy of every example that it draws."""
        if not self.is_property:
            self.run(given, begin)
            return
        arguments = {**{name: given[name] for name in self.fixtures}, **self.parameters}
        handle = getattr(self.function, "hypothesis")  # noqa: B009
        inner = handle.inner_test

        @functools.wraps(inner)
        def keep(*args: Any, **kwargs: Any) -> None:
            drawn = {name: value for name, value in kwargs.items() if name not in arguments}
            # Before the test could change it.
            self.examples.append(copy.deepcopy(drawn))
            begin(drawn)
            inner(*args, **kwargs)

        handle.inner_test = keep
        try:
            self.function(**arguments)
        finally:
            handle.inner_test = inner


@dataclass(frozen=True)
class Attempt:
    """One run of one criterion's test.

    Attributes:
        failure: what it raised, or None if it passed.
        question: the last call that it made.
        drawn: the example it ended on.
    """

    failure: BaseException | None
    question: Question | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)


class Suite:
    """The public and the hidden suite of an assignment, with the solutions' answers.

    Args:
        checks: by component, in order, public ones first.
        references: the solutions that hidden tests compare with, by component.
        drawings: what the suite shows of a component, by name.

    Attributes:
        criteria: by component, in order.
        plans: the requests of every criterion, as the solution was asked them.
        view_plans: the requests of what is shown of every component.
    """

    def __init__(
        self,
        checks: Mapping[str, Sequence[Check]],
        references: Mapping[str, ReferenceSession],
        drawings: Mapping[str, Any],
    ) -> None:
        self.criteria = {name: [c.criterion for c in found] for name, found in checks.items()}
        self.plans: dict[str, list[Planned]] = {}
        self.view_plans: dict[str, list[Planned]] = {}
        self._checks = {c.criterion.id: c for found in checks.values() for c in found}
        self._references = references
        self._drawings = drawings

    def run(self, criterion: Criterion, session: Session) -> Attempt:
        """Run one criterion on a session."""
        return self._attempt(self._checks[criterion.id], session, drawing=False)

    def view(self, component: str, session: Session) -> list[dict[str, Any]]:
        """Return what the public suite shows of a component behind a session."""
        return Run(lambda name: session).views(component, self._drawings)

    def plans_by_component(self) -> dict[str, list[list[Planned]]]:
        """Return the plans of every component's criteria, in order."""
        return {
            name: [self.plans[criterion.id] for criterion in criteria]
            for name, criteria in self.criteria.items()
        }

    def meet(self, component: str, solution: SolutionSession) -> None:
        """Grade a solution, which draws the examples and records the plans.

        Raises:
            SuiteFault: it loses a criterion.
        """
        for criterion in self.criteria[component]:
            recorder = Recorder(solution)
            attempt = self._attempt(self._checks[criterion.id], recorder, drawing=True)
            if attempt.failure is not None:
                failure = attempt.failure
                raise SuiteFault(f"the solution loses {criterion.id}: {failure}") from failure
            self.plans[criterion.id] = recorder.plan
        recorder = Recorder(solution)
        self.view(component, recorder)
        self.view_plans[component] = recorder.plan

    def _attempt(self, check: Check, session: Session, drawing: bool) -> Attempt:
        criterion = check.criterion
        run = Run(lambda name: session)
        reference = self._references[criterion.component]

        def begin(drawn: dict[str, Any]) -> None:
            run.begin(drawn)
            # The name under which the reference keeps its answers.
            reference.begin(f"{criterion.id}#{drawn!r}")

        given = {
            "component": run.component(criterion.component),
            "reference": Component(reference, lambda answer: None),
            "expect": Expect(),
            "make": Make(),
        }
        with _kept() as kept:
            (check.draw if drawing else check.run)(given, begin)
        return Attempt(kept.failure, run.question, run.drawn)


class _Kept:
    failure: BaseException | None = None


@contextlib.contextmanager
def _kept() -> Iterator[_Kept]:
    """Keep what a test raises, whatever it is, but what is meant for the whole process."""
    kept = _Kept()
    try:
        yield kept
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as failure:
        kept.failure = failure
