"""Run the criteria of one component on one set of files, each when it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.rules import used_by
from autograder.judge.check import Attempt
from autograder.judge.clock import ComponentTime
from autograder.judge.diagnosis import Diagnosis
from autograder.judge.judge import Judge
from autograder.judge.replay import Heard
from autograder.judge.session import ComponentSession, NotRun
from autograder.judge.stand_ins import files_of
from autograder.judge.terms import terms_of, with_provided
from autograder.judge.verdict import Verdict, fulfilled, hidden, of_cases
from autograder.results import ComponentStatus, Usage
from autograder.sandbox.handle import ChildGone, SandboxFault
from autograder.solutions.reference import ReferenceFault
from autograder.suite.answer import CheckFailed, StudentRaised
from autograder.suite.criterion import Criterion
from autograder.suite.wording import error_words, find, forbidden_words

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
    ) -> None:
        assignment = judge.assignment
        spec = assignment.component(name)
        siblings = files_of(other for other in assignment.totals if other != name)
        others = files_of(used_by(name, {c.name: c.uses for c in assignment.components}))
        terms = terms_of(spec, dict(files), dict(judge.provided), exempt, others)
        self.criteria = judge.suite.criteria[name]
        self._judge = judge
        self._suite = judge.suite
        self._name = name
        self._observer = observer
        self._thorough = thorough
        self._verdicts: dict[str, Verdict] = {}
        self._run_again = _RUN_AGAIN if thorough else 0
        self._views: list[dict[str, Any]] | None = None
        self._hides = False
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

    def verdicts(self) -> list[Verdict]:
        """Run all criteria."""
        return [self.verdict(criterion) for criterion in self.criteria]

    def loses_early(self) -> bool:
        """Run criteria until one is lost, not counting those that are not attempted.

        In half of the time at most: the other half is for a run with stand-ins.
        """
        self._session.extend(self._time.half)
        return any(
            not verdict.passed and not verdict.not_attempted
            for verdict in map(self.verdict, self.criteria)
        )

    def go_on(self) -> None:
        """Take the rest of the time, also for what was not run in the first half."""
        self._session.extend(self._time.end)
        for name in [n for n, found in self._verdicts.items() if found.outcome == "not_run"]:
            del self._verdicts[name]

    def passed(self, criterion: Criterion) -> bool:
        """Tell whether a criterion has been run and is fulfilled."""
        found = self._verdicts.get(criterion.id)
        return found is not None and bool(found.passed)

    def share(self, criterion: Criterion) -> float:
        """Return the share of a criterion's points that is earned, 0 if it has not been run."""
        found = self._verdicts.get(criterion.id)
        return 0.0 if found is None else found.share

    def status(self) -> tuple[ComponentStatus, str]:
        """Run all criteria and say how the component stands, with a message."""
        verdicts = self.verdicts()
        session = self._session
        if session.forbidden is not None:
            return "forbidden", forbidden_words(session.forbidden)
        if session.load_error is not None:
            return "import_error", error_words(session.load_error)
        if all(verdict.not_attempted for verdict in verdicts):
            return "not_attempted", "nothing in it is written yet"
        if session.over == "timeout":
            why = self._time.words if session.out_of_time else "it took too long"
            return "timeout", f"{why}; what came after was not run"
        if session.over == "crashed":
            return "crashed", "its process died; what came after was not run"
        return "graded", ""

    @property
    def used(self) -> Usage:
        """What its processes have used, rounded to milliseconds."""
        used = self._session.used
        return Usage(**{name: round(value, 3) for name, value in used.model_dump().items()})

    def end(self) -> None:
        """End its process: nothing more will be asked."""
        self._session.close()

    def diagnose(self) -> Diagnosis:
        """Find the misconceptions behind what is lost, where they are to be told."""
        return self.explained() if self._thorough else Diagnosis()

    def explained(self) -> Diagnosis:
        """Run all criteria and find the misconceptions behind those that are lost."""
        verdicts = self.verdicts()
        if self.unusable or all(verdict.passed for verdict in verdicts):
            return Diagnosis()
        heard = [
            Heard(criterion.id, bool(verdict.passed), verdict.heard, criterion.free)
            for criterion, verdict in zip(self.criteria, verdicts, strict=True)
        ]
        with self._session.aside():
            return self._judge.diagnoser.diagnose(self._name, heard, self._session.ask_more)

    def views(self) -> list[dict[str, Any]]:
        """Run all criteria and return what the suite shows of the work; no mark depends on it."""
        self.verdicts()
        if self._views is not None:
            # Drawn before hidden criteria, whose deaths do not show here.
            return self._views
        return [] if self._session.over else self._drawn()

    def _drawn(self) -> list[dict[str, Any]]:
        """Have the work drawn, by a child that has seen no hidden question."""
        if not self._thorough:
            return []
        if self._views is None:
            session = self._session
            self._views = []
            with session.aside():
                session.begin(self._suite.view_plans[self._name])
                try:
                    with contextlib.suppress(NotRun, ChildGone):
                        self._views = self._suite.view(self._name, session)
                finally:
                    session.end()
        return self._views

    def _run(self, criterion: Criterion) -> Verdict:
        if criterion.visibility == "hidden" and not self._hides:
            # From here on a child could draw what it was asked.
            self._hides = True
            if not self._session.over:
                self._drawn()
        if self._session.over:
            return Verdict("not_run")
        attempt, asked = self._ask(criterion)
        heard = self._session.heard
        verdict = fulfilled() if attempt.failure is None else self._lost(criterion, attempt)
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
        return verdict if criterion.visibility == "public" else hidden(verdict, attempt)

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
        shown = criterion.visibility == "public"
        if shown and isinstance(failure, CheckFailed) and self._passes_again(criterion):
            hints.append(_UNSTEADY)
        if found.outcome == "failed":
            return Verdict("failed", share, facts, hints, cases=attempt.cases)
        # Another component's stub stops this one too, but this one was attempted.
        own = isinstance(failure, StudentRaised) and failure.error.file == f"{self._name}.py"
        own = own and found.outcome == "not_attempted"
        return Verdict("student_error", share, facts, hints, not_attempted=own, cases=attempt.cases)

    def _ask(self, criterion: Criterion) -> tuple[Attempt, int]:
        """Run a criterion's test; return what came of it and how many requests it read."""
        self._session.begin(self._suite.plans[criterion.id])
        try:
            # A test that hears what it heard from the solution ends as it did there.
            met = self._suite.met(criterion)
            if met is not None and self._session.answers_alike():
                return met, len(self._session.heard)
            attempt = self._suite.run(criterion, self._session)
            return attempt, len(self._session.heard)
        finally:
            self._session.end()

    def _passes_again(self, criterion: Criterion) -> bool:
        """Run a failed criterion once more, to name code that answers the same call differently."""
        if self._session.over or not self._run_again:
            return False
        self._run_again -= 1
        again = self._ask(criterion)[0].failure
        if isinstance(again, _FAULTS):
            raise again
        return again is None
