"""The suite as a value: criteria with the examples drawn for them, run on any session.

The examples of every property are drawn once, while the solutions are graded as a first
submission; every student is then given those same examples straight away.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from autograder.judge.check import Attempt, Case, Check, words_of
from autograder.solutions.plan import Planned, RecordedExpect, Recorder
from autograder.solutions.reference import ReferenceSession, SolutionSession
from autograder.suite.answer import StudentRaised
from autograder.suite.asking import Session
from autograder.suite.component import Component
from autograder.suite.criterion import Criterion
from autograder.suite.expect import Expect
from autograder.suite.make import Make
from autograder.suite.run import Run

FIXTURES = ("component", "reference", "expect", "make")


class SuiteFault(Exception):
    """The suite is broken: a solution loses points, or the points do not add up."""


class Suite:
    """The public and the hidden suite of an assignment, with the solutions' answers.

    Args:
        checks: by component, in order, public ones first.
        references: the solutions that hidden tests compare with, by component.
        drawings: what the suite shows of a component, by name.
        lenient: whether a solution may lose criteria.

    Attributes:
        criteria: by component, in order.
        plans: the requests of every criterion, as the solution was asked them.
        view_plans: the requests of what is shown of every component.
        losses: what is said of criteria that a solution loses.
        faults: what else is wrong with the suites.
    """

    def __init__(
        self,
        checks: Mapping[str, Sequence[Check]],
        references: Mapping[str, ReferenceSession],
        drawings: Mapping[str, Any],
        lenient: bool = False,
    ) -> None:
        self.criteria = {name: [c.criterion for c in found] for name, found in checks.items()}
        self.plans: dict[str, list[Planned]] = {}
        self.view_plans: dict[str, list[Planned]] = {}
        self.losses: dict[str, str] = {}
        self.faults: list[str] = []
        self._lenient = lenient
        self.checks = {c.criterion.id: c for found in checks.values() for c in found}
        self._references = references
        self._drawings = drawings

    def run(self, criterion: Criterion, session: Session) -> Attempt:
        """Run one criterion on a session."""
        return self._attempt(self.checks[criterion.id], session, drawing=False)

    def met(self, criterion: Criterion) -> Attempt | None:
        """Return what became of it on the solution, all of which it meets; None if it does not."""
        if criterion.id in self.losses:
            return None
        cases = self.checks[criterion.id].cases
        drawn = cases[-1].examples[-1] if cases[-1].examples else {}
        return Attempt(None, drawn=drawn, cases=len(cases), passed=len(cases))

    def view(self, component: str, session: Session) -> list[dict[str, Any]]:
        """Return what the public suite shows of a component behind a session."""
        return Run(lambda name: session).views(component, self._drawings)

    def public_plans(self) -> dict[str, list[list[Planned]]]:
        """Return the plans of every component's public criteria, in order."""
        return {
            name: [self.plans[c.id] for c in criteria if c.visibility == "public"]
            for name, criteria in self.criteria.items()
        }

    def meet(self, component: str, solution: SolutionSession) -> None:
        """Grade a solution, which draws the examples and records the plans.

        Raises:
            SuiteFault: it loses a criterion.
        """
        for criterion in list(self.criteria[component]):
            recorder = Recorder(solution)
            attempt = self._attempt(self.checks[criterion.id], recorder, drawing=True)
            if attempt.failure is not None:
                self._loses(criterion, attempt, f"the solution loses {criterion.id}: ")
            self.plans[criterion.id] = recorder.plan
        recorder = Recorder(solution)
        self.view(component, recorder)
        self.view_plans[component] = recorder.plan

    def replay(self, component: str, solution: SolutionSession) -> None:
        """Grade a solution once more, on what was drawn, as a submission will be.

        Raises:
            SuiteFault: it loses a criterion that it met when the examples were drawn.
        """
        for criterion in list(self.criteria[component]):
            if not self.checks[criterion.id].is_property:
                continue
            attempt = self.run(criterion, solution)
            if attempt.failure is not None and criterion.id not in self.losses:
                why = "does the test draw with st.data(), or keep anything? "
                self._loses(
                    criterion,
                    attempt,
                    f"the solution loses {criterion.id} when it is run again on the examples that "
                    f"were drawn; {why}",
                )

    def only_form(self, component: str) -> list[str]:
        """Say so if nothing but form is asked of a component."""
        if any(not criterion.form for criterion in self.criteria[component]):
            return []
        return [
            f"all criteria of {component} are marked form=True, which count beside another one "
            "alone: add a criterion that compares values, or leave out form=True"
        ]

    def _loses(self, criterion: Criterion, attempt: Attempt, lead: str) -> None:
        """Note what the solution loses; where it must lose nothing, the suite is broken."""
        words = words_of(attempt)
        if not self._lenient:
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
            "plans": {name: self.plans[name] for name in names},
            "view_plan": self.view_plans[component],
            "answers": self._references[component].kept,
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
            for case in check.cases:
                case.examples = kept["examples"][check.criterion.id][case.name]
        self.plans |= kept["plans"]
        self.view_plans[component] = kept["view_plan"]
        self._references[component].kept.update(kept["answers"])
        return True

    def _attempt(self, check: Check, session: Session, drawing: bool) -> Attempt:
        criterion = check.criterion
        run = Run(lambda name: session)
        reference = self._references[criterion.component]
        expect = Expect(run.coarse, run.asked)
        if isinstance(session, Recorder):
            expect = RecordedExpect(run.coarse, session)
        given = {
            "component": run.component(criterion.component),
            "reference": Component(reference, lambda answer: None),
            "expect": expect,
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
