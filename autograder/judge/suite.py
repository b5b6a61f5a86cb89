"""The suite as a value: criteria with the examples drawn for them, run on any session.

The examples of every property are drawn once, while the solutions are graded as a first
submission; every student is then given those same examples straight away.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis.errors import UnsatisfiedAssumption

from autograder.solutions.plan import Planned, Recorder
from autograder.solutions.reference import ReferenceSession, SolutionSession
from autograder.suite.answer import Question, StudentRaised
from autograder.suite.asking import Session
from autograder.suite.component import Component
from autograder.suite.criterion import Criterion
from autograder.suite.expect import Expect
from autograder.suite.make import Make
from autograder.suite.run import Run
from autograder.suite.wording import find

FIXTURES = ("component", "reference", "expect", "make")


class SuiteFault(Exception):
    """The suite is broken: a solution loses points, or the points do not add up."""


@dataclass
class Case:
    """One case of a criterion's test; a test without parameters has one.

    Attributes:
        name: what pytest calls it, empty for the only one.
        parameters: what the test was parametrized with.
        examples: what was drawn for a property.
    """

    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Check:
    """A criterion's test, ready to run.

    Attributes:
        function: the test, wrapped by Hypothesis if it is a property.
        fixtures: the names of the fixtures that it takes.
        cases: share the criterion's points.
    """

    criterion: Criterion
    function: Callable[..., object]
    fixtures: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)

    @property
    def is_property(self) -> bool:
        """Whether Hypothesis draws examples for it."""
        return hasattr(self.function, "hypothesis")

    def run(
        self, case: Case, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]
    ) -> None:
        """Run the test; a property on the examples drawn for it, without Hypothesis."""
        arguments = {**{name: given[name] for name in self.fixtures}, **case.parameters}
        if not self.is_property:
            begin({})
            self.function(**arguments)
            return
        inner: Callable[..., object] = getattr(self.function, "hypothesis").inner_test  # noqa: B009
        for drawn in case.examples:
            begin(drawn)
            with contextlib.suppress(UnsatisfiedAssumption):
                inner(**arguments, **drawn)

    def draw(
        self, case: Case, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]
    ) -> None:
        """Run the test as Hypothesis does, and keep a copy of every example that it draws."""
        if not self.is_property:
            self.run(case, given, begin)
            return
        arguments = {**{name: given[name] for name in self.fixtures}, **case.parameters}
        handle = getattr(self.function, "hypothesis")  # noqa: B009
        inner = handle.inner_test

        @functools.wraps(inner)
        def keep(*args: Any, **kwargs: Any) -> None:
            drawn = {name: value for name, value in kwargs.items() if name not in arguments}
            # Before the test could change it.
            case.examples.append(copy.deepcopy(drawn))
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
        failure: what it raised first, or None if it passed.
        question: the last call that was made then.
        drawn: the example it ended on.
        case: the name of the case.
        cases: how many cases there are.
        passed: how many of them passed.
    """

    failure: BaseException | None
    question: Question | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    cases: int = 1
    passed: int = 0


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
                raise SuiteFault(
                    f"the solution loses {criterion.id}: {_words(attempt)}"
                ) from failure
            self.plans[criterion.id] = recorder.plan
        recorder = Recorder(solution)
        self.view(component, recorder)
        self.view_plans[component] = recorder.plan

    def replay(self, component: str, solution: SolutionSession) -> None:
        """Grade a solution once more, on what was drawn, as a submission will be.

        Raises:
            SuiteFault: it loses a criterion that it met when the examples were drawn.
        """
        for criterion in self.criteria[component]:
            if not self._checks[criterion.id].is_property:
                continue
            failure = self.run(criterion, solution).failure
            if failure is not None:
                raise SuiteFault(
                    f"the solution loses {criterion.id} when it is run again on the examples that "
                    f"were drawn ({failure}): does the test draw with st.data(), or keep anything?"
                ) from failure

    def _attempt(self, check: Check, session: Session, drawing: bool) -> Attempt:
        criterion = check.criterion
        run = Run(lambda name: session)
        reference = self._references[criterion.component]
        given = {
            "component": run.component(criterion.component),
            "reference": Component(reference, lambda answer: None),
            "expect": Expect(),
            "make": Make(),
        }
        lost: Attempt | None = None
        passed = 0
        for case in check.cases:

            def begin(drawn: dict[str, Any], case: Case = case) -> None:
                run.begin(drawn)
                # The name under which the reference keeps its answers.
                reference.begin(f"{criterion.id}[{case.name}]#{drawn!r}")

            with _kept() as kept:
                (check.draw if drawing else check.run)(case, given, begin)
            passed += kept.failure is None
            if kept.failure is not None and lost is None:
                lost = Attempt(kept.failure, run.question, run.drawn, case.name)
        found = lost or Attempt(None, run.question, run.drawn)
        return replace(found, cases=len(check.cases), passed=passed)


def _words(attempt: Attempt) -> str:
    """Say what a solution ran into, with file and line of its own."""
    failure = attempt.failure
    assert failure is not None
    if isinstance(failure, AssertionError | StudentRaised):
        return "; ".join(find(failure, attempt.question, reveal=True).message.splitlines())
    place = traceback.extract_tb(failure.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{type(failure).__name__}: {failure} ({where})"


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
