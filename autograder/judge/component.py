"""Run the criteria of one component on one set of files, each when it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.rules import used_by
from autograder.judge.check import Attempt
from autograder.judge.clock import ComponentTime
from autograder.judge.diagnosis import Diagnosis
from autograder.judge.judge import Judge
from autograder.judge.replay import Heard
from autograder.judge.session import ComponentSession, LeftThePlan, NotRun
from autograder.judge.stand_ins import files_of
from autograder.judge.terms import terms_of, with_provided
from autograder.judge.verdict import Verdict, fulfilled, hidden, of_cases
from autograder.results import ComponentStatus, Usage
from autograder.sandbox.handle import ChildGone, SandboxFault
from autograder.solutions.plan import Planned
from autograder.solutions.reference import ReferenceFault
from autograder.suite.answer import CheckFailed, StudentRaised
from autograder.suite.asking import Session
from autograder.suite.criterion import Criterion
from autograder.suite.wording import error_words, find, forbidden_words

_T = TypeVar("_T")
_FAULTS = (SandboxFault, ReferenceFault, MemoryError, KeyboardInterrupt, SystemExit)
_RUN_AGAIN = 2
_UNSTEADY = "the same call was answered differently a second time"


class Observer(Protocol):
    """Sees every criterion that is run for the first time."""

    def ran(self, criterion: Criterion, attempt: Attempt, verdict: Verdict, asked: int) -> None:
        """Note what became of a criterion; `asked` requests were answered before its test ended."""


class ComponentRun:
    """A component on one set of files.

    Args:
        judge: what it is graded with.
        name: the component.
        files: the submission's files by name.
        exempt: files that may call what is forbidden.
        observer: sees what is run; may be None.
        thorough: look for misconceptions, for code that is not steady, and for views. Without it
            there are bare verdicts, and the first death ends the component.
        time: how much it may take, whatever is done in it.
        free: whether it runs with all of Python, because a person said it may.

    Raises, from every method that runs criteria:
        SandboxFault, ReferenceFault: a fault of the grader.
    """

    def __init__(
        self,
        judge: Judge,
        name: str,
        files: Mapping[str, bytes],
        exempt: Sequence[str],
        observer: Observer | None,
        thorough: bool,
        time: ComponentTime,
        free: bool = False,
    ) -> None:
        assignment = judge.assignment
        spec = assignment.component(name)
        siblings = files_of(other for other in assignment.totals if other != name)
        others = files_of(used_by(name, {c.name: c.uses for c in assignment.components}))
        terms = terms_of(spec, judge.provided, exempt, others, free)
        self.criteria = judge.suite.criteria[name]
        self._judge = judge
        self._suite = judge.suite
        self._name = name
        self._observer = observer
        self._thorough = thorough
        self._verdicts: dict[str, Verdict] = {}
        self._run_again = _RUN_AGAIN if thorough else 0
        self._time = time
        self._session = ComponentSession(
            fork=partial(judge.sandbox.fork, name, with_provided(files, judge.provided), terms),
            siblings=siblings,
            deaths_allowed=spec.limits.deaths if thorough else 1,
            end_of_time=self._time.end,
            lines={Path(name).name: len(source.splitlines()) + 1 for name, source in files.items()},
            refused=terms.rules.names,
        )

    def __enter__(self) -> ComponentRun:
        return self

    def __exit__(self, *error: object) -> None:
        self._session.close()

    @property
    def forbidden(self) -> ForbiddenUse | None:
        """The forbidden operation that was called, or None."""
        return self._session.forbidden

    @property
    def unusable(self) -> bool:
        """Whether nothing can be said about its answers: it was not imported, or is forbidden."""
        return self.forbidden is not None or self._session.load_error is not None

    def verdict(self, criterion: Criterion) -> Verdict:
        """Run a criterion, if it has not been run before."""
        if criterion.id not in self._verdicts:
            self._verdicts[criterion.id] = self._run(criterion)
        return self._verdicts[criterion.id]

    def found(self) -> list[Verdict]:
        """Return the verdicts on all criteria, as far as they have been run."""
        return [self._verdicts.get(c.id, Verdict("not_run")) for c in self.criteria]

    def share(self, criterion: Criterion) -> float:
        """Return the share of a criterion's points that is earned, 0 if it has not been run."""
        found = self._verdicts.get(criterion.id)
        return 0.0 if found is None else found.share

    def ran(self, criterion: Criterion) -> bool:
        """Tell whether a criterion has been run."""
        return criterion.id in self._verdicts

    def try_again(self, criterion: Criterion) -> None:
        """Run a criterion that there was no time for before."""
        if self.verdict(criterion).outcome == "not_run":
            self._verdicts[criterion.id] = self._run(criterion)

    def extend(self, end_of_time: float) -> None:
        """Go on until another moment."""
        self._session.extend(end_of_time)

    def rest(self) -> None:
        """End its process, until more is asked."""
        self._session.close()

    def keep_silent(self, time: ComponentTime) -> None:
        """Ask hidden questions from now on: of an answer is kept whether it was right.

        All that may be shown is settled before, and the child that it was settled with is gone.

        Args:
            time: how much is left.
        """
        self._session.secret = True
        self._time = time
        self._session.extend(time.end)

    def status(self) -> tuple[ComponentStatus, str]:
        """Say how the component stands by what was run, with a message."""
        verdicts = list(self._verdicts.values())
        session = self._session
        if session.forbidden is not None:
            return "forbidden", forbidden_words(session.forbidden)
        if session.load_error is not None:
            return "import_error", error_words(session.load_error)
        if all(verdict.not_attempted for verdict in verdicts):
            return "not_attempted", "nothing in it is written yet"
        unasked = not session.over and any(v.outcome == "not_run" for v in verdicts)
        if session.over == "timeout" or unasked:
            late = session.out_of_time or unasked
            why = self._time.words if late else "it took too long"
            return "timeout", f"{why}; what came after was not run"
        if session.over == "crashed":
            return "crashed", "its process died; what came after was not run"
        return "graded", ""

    @property
    def used(self) -> Usage:
        """What its processes have used, rounded to milliseconds."""
        used = self._session.used
        return Usage(**{name: round(value, 3) for name, value in used.model_dump().items()})

    def diagnose(self) -> Diagnosis:
        """Find the misconceptions behind those public criteria that are lost.

        Hidden answers have no part in it: a name that is told could carry out what was asked.
        """
        shown = [criterion for criterion in self.criteria if criterion.visibility == "public"]
        verdicts = [self.verdict(criterion) for criterion in shown]
        if not self._thorough or self.unusable or all(verdict.passed for verdict in verdicts):
            return Diagnosis()
        heard = [
            Heard(criterion.id, bool(verdict.passed), verdict.heard, criterion.free)
            for criterion, verdict in zip(shown, verdicts, strict=True)
        ]
        with self._session.aside():
            return self._judge.diagnoser.diagnose(self._name, heard, self._session.ask_more)

    def views(self) -> list[dict[str, Any]]:
        """Return what the suite shows of the work; no mark depends on it."""
        if not self._thorough or self._session.over:
            return []
        with self._session.aside(), contextlib.suppress(NotRun, ChildGone):
            plan = self._suite.view_plans[self._name]
            return self._through(plan, partial(self._suite.view, self._name))
        return []

    def _run(self, criterion: Criterion) -> Verdict:
        if self._session.over:
            return Verdict("not_run")
        attempt = self._ask(criterion)
        heard = self._session.heard
        # A test that did not run would have asked everything.
        asked = self._session.asked or len(heard)
        verdict = fulfilled() if attempt.failure is None else self._lost(criterion, attempt)
        if self._observer is not None or not self._session.secret:
            verdict.heard = heard
        verdict.cases = attempt.cases
        if self._observer is not None:
            self._observer.ran(criterion, attempt, verdict, asked)
        return verdict

    def _lost(self, criterion: Criterion, attempt: Attempt) -> Verdict:
        failure = attempt.failure
        assert failure is not None
        if isinstance(failure, _FAULTS):
            raise failure
        if isinstance(failure, NotRun):
            return Verdict("not_run")
        verdict = self._found(criterion, attempt, failure)
        return hidden(verdict, attempt) if self._session.secret else verdict

    def _found(self, criterion: Criterion, attempt: Attempt, failure: BaseException) -> Verdict:
        """Say what a lost criterion came to, as of a public one."""
        if isinstance(failure, ChildGone):
            timeout = failure.reason == "timeout"
            share = attempt.passed / attempt.cases
            facts = [*of_cases(attempt), failure.words]
            return Verdict("timeout" if timeout else "crashed", share, facts)
        found = find(failure, attempt.question)
        hints = list(found.hints)
        facts = [*of_cases(attempt), *found.facts]
        share = attempt.passed / attempt.cases
        shown = not self._session.secret
        unsteady = shown and isinstance(failure, CheckFailed) and self._passes_again(criterion)
        if unsteady:
            hints.append(_UNSTEADY)
        if found.outcome == "failed":
            return Verdict("failed", share, facts, hints, cases=attempt.cases, unsteady=unsteady)
        # Another component's stub stops this one too, but this one was attempted.
        own = isinstance(failure, StudentRaised) and failure.error.file == f"{self._name}.py"
        own = own and found.outcome == "not_attempted"
        return Verdict("student_error", share, facts, hints, not_attempted=own, cases=attempt.cases)

    def _ask(self, criterion: Criterion) -> Attempt:
        """Run a criterion's test, unless its questions were answered as the solution answers."""
        met = self._suite.met(criterion)
        plan = self._suite.plans[criterion.id]
        return self._through(plan, partial(self._suite.run, criterion), met)

    def _through(
        self, plan: Sequence[Planned], test: Callable[[Session], _T], met: _T | None = None
    ) -> _T:
        """Put the questions of a plan, then run a test on the answers; `met` if all are right."""
        if self._session.begin(plan) and met is not None:
            return met
        with contextlib.suppress(LeftThePlan):
            found = test(self._session)
            if not self._session.left:
                return found
        self._session.begin(plan, live=True)
        return test(self._session)

    def _passes_again(self, criterion: Criterion) -> bool:
        """Run a failed criterion once more, to name code that answers the same call differently."""
        if self._session.over or not self._run_again:
            return False
        self._run_again -= 1
        again = self._ask(criterion).failure
        if isinstance(again, _FAULTS):
            raise again
        return again is None
