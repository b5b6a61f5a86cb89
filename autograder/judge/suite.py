"""The suite as a value: criteria with the examples drawn for them, run on any session.

The examples of every property are drawn once, while the solutions are graded as a first
submission; every student is then given those same examples straight away.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest
from hypothesis.errors import UnsatisfiedAssumption

from autograder.api.answer import Question, StudentRaised
from autograder.api.component import Component, Session
from autograder.api.criterion import Criterion
from autograder.api.expect import Expect
from autograder.api.make import Make
from autograder.api.messages import Reply, Request
from autograder.api.run import Run
from autograder.api.values import show_value
from autograder.api.wording import find
from autograder.judge.reference import ReferenceSession
from autograder.judge.session import Planned, Recorder, can_be_asked_again
from autograder.results import HIDDEN_WORDS, Outcome

FIXTURES = ("component", "reference", "expect", "make")
# Characters of a parameter in the words of a case.
_SHOWN = 40


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

    @property
    def words(self) -> str:
        """The name, with short values in place of pytest's numbers, as in `labels0-0.5`."""
        said = self.name
        for name, value in self.parameters.items():
            shown = show_value(value)
            if len(shown) <= _SHOWN and " at 0x" not in shown:
                numbered = rf"(?<![^-]){re.escape(name)}\d+(?![^-])"
                said = re.sub(numbered, shown.replace("\\", r"\\"), said)
        return said


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
    # Whether it is plain pytest, which is run in a process of its own.
    is_ordinary: ClassVar[bool] = False

    def attempt(self, session: Session, plan: Sequence[Planned] | None) -> Attempt:
        """Run an ordinary test; `plan` is what the solution was asked, None while it is asked."""
        raise NotImplementedError

    def noted(self) -> Any:
        """Return what was noted while the solution was asked, to be kept."""

    def note(self, noted: Any) -> None:
        """Take what was kept."""

    @property
    def is_property(self) -> bool:
        """Whether Hypothesis draws examples for it."""
        return hasattr(self.function, "hypothesis")

    def run(
        self, case: Case, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]
    ) -> None:
        """Run the test; a property on the examples drawn for it, without Hypothesis."""
        arguments = self._arguments(case, given)
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
        """Run the test as Hypothesis does, and keep a copy of the first examples that it draws."""
        if not self.is_property:
            self.run(case, given, begin)
            return
        arguments = self._arguments(case, given)
        handle = getattr(self.function, "hypothesis")  # noqa: B009
        inner = handle.inner_test
        # Those of the test's own `@example` come first.
        written = len(getattr(self.function, "hypothesis_explicit_examples", ()))

        @functools.wraps(inner)
        def keep(*args: Any, **kwargs: Any) -> None:
            # Drawn all the same, so that fewer examples are the first of those that more would be.
            if len(case.examples) == written + self.criterion.examples:
                return
            drawn = {name: value for name, value in kwargs.items() if name not in arguments}
            # Before the test could change it.
            case.examples.append(copy.deepcopy(drawn))
            begin(drawn)
            inner(*args, **kwargs)

        with mock.patch.object(handle, "inner_test", keep):
            self.function(**arguments)

    def _arguments(self, case: Case, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**{name: given[name] for name in self.fixtures}, **case.parameters}


@dataclass
class Attempt:
    """One run of one criterion's test, and what came of it."""

    criterion: Criterion
    failure: BaseException | None = None  # what the test raised first
    question: Question | None = None  # the last call that was made then
    drawn: Mapping[str, Any] = field(default_factory=dict)  # the example it ended on
    case: str = ""  # the case that failed first
    left_open: bool = False  # an ordinary test left the component in the middle of a call
    place: str = ""  # of an ordinary test, the file and line where it failed
    cases: int = 1  # how many share the points
    passed: int = 0  # how many of them passed
    outcome: Outcome = "not_run"
    facts: list[str] = field(default_factory=list)  # what is wrong, as the student is told
    hints: list[str] = field(default_factory=list)  # what to do about it
    not_attempted: bool = False  # the component's own stub stopped it
    unsteady: bool = False  # the same calls were answered rightly a second time
    silent: bool = False  # nothing is told of it but how many cases passed
    heard: Sequence[tuple[Request, Reply]] = ()  # what it answered to what was asked ahead
    asked: Sequence[Planned] = ()  # what the test asked, where it is to be explained
    stand_ins: tuple[str, ...] = ()  # the components that a stand-in took the place of

    @property
    def share(self) -> float:
        """The share of the criterion's points that is earned, from 0 to 1."""
        return self.passed / self.cases

    def of_cases(self) -> list[str]:
        """Say how many cases passed, where there are several."""
        if self.cases == 1:
            return []
        return [f"{self.passed} of {self.cases} cases pass; the first that does not: {self.case}"]

    def hide(self) -> None:
        """Tell nothing but how many cases passed."""
        cases = [f"{self.passed} of {self.cases} cases pass"] if self.cases > 1 else []
        self.facts, self.hints, self.silent = [*cases, HIDDEN_WORDS], [], True


@dataclass
class Suite:
    """The public and the hidden suite of an assignment, with the solutions' answers."""

    filed: Mapping[str, Sequence[Check]]  # by component, in order, public ones first
    references: Mapping[str, ReferenceSession]  # the solutions that hidden tests compare with
    drawings: Mapping[str, Any]  # what the suite shows of a component, by name
    lenient: bool = False  # whether a solution may lose criteria
    # What the solution was asked and answered: by criterion, and by component for what is shown.
    plans: dict[str, list[Planned]] = field(default_factory=dict)
    views: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # of the solutions
    losses: dict[str, str] = field(default_factory=dict)  # what is said of what a solution loses
    faults: list[str] = field(default_factory=list)  # what else is wrong with the suites
    notes: list[str] = field(default_factory=list)  # what an author should know of them

    def __post_init__(self) -> None:
        self.criteria = {name: [c.criterion for c in found] for name, found in self.filed.items()}
        self.checks = {c.criterion.id: c for found in self.filed.values() for c in found}

    def run(self, criterion: Criterion, session: Session) -> Attempt:
        """Run one criterion on a session."""
        return self._attempt(self.checks[criterion.id], session)

    def met(self, criterion: Criterion) -> Attempt | None:
        """Return the passing attempt of the solution; None if the solution fails this criterion."""
        if criterion.id in self.losses:
            return None
        cases = self.checks[criterion.id].cases
        drawn = cases[-1].examples[-1] if cases[-1].examples else {}
        plan, count = self.plans[criterion.id], len(cases)
        return Attempt(criterion, drawn=drawn, cases=count, passed=count, asked=plan)

    def view(self, component: str, session: Session) -> list[dict[str, Any]]:
        """Return what the public suite shows of a component behind a session."""
        return Run(lambda name: session).views(component, self.drawings)

    def public_plans(self) -> dict[str, list[list[Planned]]]:
        """Return the plans of every component's public criteria, in order."""
        return {
            name: [
                self.plans[c.id]
                for c in criteria
                if c.visibility == "public" and can_be_asked_again(self.plans[c.id])
            ]
            for name, criteria in self.criteria.items()
        }

    def meet(self, component: str, solution: Session, process: Session) -> None:
        """Grade a solution, which draws the examples and records the plans.

        Args:
            component: the component.
            solution: its solution.
            process: the solution in a process of its own, for ordinary tests.

        Raises:
            SuiteFault: it loses a criterion.
        """
        for criterion in list(self.criteria[component]):
            check = self.checks[criterion.id]
            recorder = Recorder(process if check.is_ordinary else solution)
            attempt = self._attempt(check, recorder, recorder)
            if attempt.failure is not None:
                self._loses(attempt, f"the solution loses {criterion.id}: ")
            self.plans[criterion.id] = recorder.plan
        recorder = Recorder(solution)
        self.views[component] = self.view(component, recorder)
        self.plans[component] = recorder.plan

    def replay(self, component: str, solution: Session) -> None:
        """Grade a solution once more, on what was drawn, as a submission will be.

        Raises:
            SuiteFault: it loses a criterion that it met when the examples were drawn.
        """
        for criterion in list(self.criteria[component]):
            if not self.checks[criterion.id].is_property:
                continue
            attempt = self.run(criterion, solution)
            if attempt.failure is not None and criterion.id not in self.losses:
                lead = (
                    f"the solution loses {criterion.id} when it is run again on the examples that "
                    "were drawn; does the test draw with st.data(), or keep anything? "
                )
                self._loses(attempt, lead)

    def only_form(self, component: str) -> list[str]:
        """Say so if nothing but form is asked of a component."""
        if any(not criterion.form for criterion in self.criteria[component]):
            return []
        return [
            f"all criteria of {component} are marked form=True, which count beside another one "
            "alone: add a criterion that compares values, or leave out form=True"
        ]

    def _loses(self, attempt: Attempt, lead: str) -> None:
        """Note what the solution loses; where it must lose nothing, the suite is broken."""
        words, criterion = _words_of(attempt), attempt.criterion
        if not self.lenient:
            raise SuiteFault(lead + words) from attempt.failure
        self.losses[criterion.id] = words
        if not isinstance(attempt.failure, AssertionError | StudentRaised):
            # The test itself is broken: no component can be asked by it.
            self.criteria[criterion.component].remove(criterion)

    def kept(self, component: str) -> dict[str, Any]:
        """Return what was drawn, asked and answered when a component's solution was graded."""
        names = [criterion.id for criterion in self.criteria[component]]
        return {
            "examples": {
                name: {case.name: case.examples for case in self.checks[name].cases}
                for name in names
            },
            "views": self.views[component],
            "plans": {name: self.plans[name] for name in (*names, component)},
            "answers": self.references[component].kept,
            "ordinary": {name: self.checks[name].noted() for name in names},
        }

    def restore(self, component: str, kept: dict[str, Any] | None) -> bool:
        """Take what was kept of a component; return whether that was possible."""
        if kept is None:
            return False
        checks = [self.checks[criterion.id] for criterion in self.criteria[component]]
        cases = {check.criterion.id: {case.name for case in check.cases} for check in checks}
        if {name: set(found) for name, found in kept["examples"].items()} != cases:
            return False
        for check in checks:
            check.note(kept["ordinary"][check.criterion.id])
            for case in check.cases:
                case.examples = kept["examples"][check.criterion.id][case.name]
        self.views[component] = kept["views"]
        self.plans |= kept["plans"]
        self.references[component].kept.update(kept["answers"])
        return True

    def _attempt(self, check: Check, session: Session, recorder: Recorder | None = None) -> Attempt:
        """Run a test; for one who records it, draw its examples."""
        criterion = check.criterion
        if check.is_ordinary:
            return check.attempt(session, None if recorder else self.plans[criterion.id])
        run = Run(lambda name: session)
        reference = self.references[criterion.component]
        expect = Expect(run.coarse, run.asked)
        if recorder is not None:
            expect = Expect(run.coarse, compared=recorder.compared)
        given = {
            "component": run.component(criterion.component),
            "reference": Component(reference, lambda answer: None),
            "expect": expect,
            "make": Make(),
        }
        attempt = Attempt(criterion, cases=len(check.cases))
        for case in check.cases:

            def begin(drawn: dict[str, Any], case: Case = case) -> None:
                run.begin(drawn)
                # The name under which the reference keeps its answers.
                reference.begin(f"{criterion.id}[{case.name}]#{drawn!r}")

            run_test = check.run if recorder is None else check.draw
            failure = _failure_of(functools.partial(run_test, case, given, begin))
            attempt.passed += failure is None
            if attempt.failure is None:
                # The first that fails, else the last.
                attempt.failure, attempt.case = failure, case.words
                attempt.question, attempt.drawn = run.question, run.drawn
        return attempt


def _failure_of(test: Callable[[], None]) -> BaseException | None:
    """Return what a test raises, whatever it is, but what is meant for the whole process."""
    try:
        test()
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as failure:
        return failure
    return None


def _words_of(attempt: Attempt) -> str:
    """Say what a solution ran into, with file and line of the test."""
    failure = attempt.failure
    assert failure is not None
    frames = traceback.extract_tb(failure.__traceback__)
    if not frames:
        return f"{_said(failure, attempt)}{attempt.place and f' (asked in {attempt.place})'}"
    # Where the suite asked, not where this package noticed.
    asked = [frame for frame in frames if Path(frame.filename).parent.name == "tests"]
    place = (asked or frames)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{_said(failure, attempt)} (asked in {where})"


def _said(failure: BaseException, attempt: Attempt) -> str:
    if isinstance(failure, AssertionError | StudentRaised):
        return "; ".join(find(failure, attempt.question).message.splitlines())
    return f"{type(failure).__name__}: {failure}"
