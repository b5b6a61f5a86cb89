"""Run the criteria of one component on one set of files, each when it is asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.api.answer import CheckFailed, StudentRaised
from autograder.api.component import Session
from autograder.api.criterion import COUNTS_LATER, Criterion, form_counts
from autograder.api.messages import Reply
from autograder.api.wording import error_words, find, forbidden_words
from autograder.assignment import Assignment, ComponentSpec
from autograder.diagnosis.fits import examples_in
from autograder.judge.diagnosis import Diagnoser, Diagnosis
from autograder.judge.intake import MAX_FILE_BYTES
from autograder.judge.ordinary_suite import OverLimits
from autograder.judge.reference import ReferenceFault
from autograder.judge.review import with_provided
from autograder.judge.session import (
    LATE,
    Claims,
    ComponentSession,
    NotRun,
    Planned,
    Recorder,
    SameKinds,
    can_be_asked_again,
)
from autograder.judge.suite import Attempt, Suite
from autograder.results import ComponentStatus, Usage
from autograder.rules.files import is_of
from autograder.rules.forbidden import ForbiddenUse, used_by
from autograder.rules.given import Given
from autograder.sandbox.handle import ChildGone, Clock, SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget, Profile
from autograder.settings import Limits
from autograder.student.local import files_of

_FAULTS = (SandboxFault, ReferenceFault, MemoryError, KeyboardInterrupt, SystemExit)
_RUN_AGAIN = 2
_UNSTEADY = "the same call was answered differently a second time"
# Of the replies of one component that are kept; right ones come to less than a tenth of it.
_MOST_KEPT = 64 * 1024 * 1024
_NOT_KEPT = Reply(gradient="not kept")


@dataclass(frozen=True)
class Judge:
    """What a submission is graded with.

    Attributes:
        assignment: the assignment.
        suite: its collected suites.
        sandbox: a running sandbox.
        diagnoser: knows the misconceptions.
        provided: code and data that every component gets, by relative path.
        given: the text that students are given, which earns nothing.
    """

    assignment: Assignment
    suite: Suite
    sandbox: Sandbox
    diagnoser: Diagnoser
    provided: Mapping[str, bytes] = field(default_factory=dict)
    given: Given = field(default_factory=Given)

    @cached_property
    def stubs(self) -> Mapping[str, str]:
        """The texts of the stubs, by file."""
        return self.assignment.stubs()


def budget_of(limits: Limits) -> Budget:
    """Return the limits of one child."""
    return Budget(
        call_cpu_s=limits.call_cpu_s,
        call_wall_s=limits.call_wall_s,
        cpu_s=limits.component_cpu_s,
        memory=limits.memory_mb * 1024 * 1024,
        # Its own source is written where it runs, too.
        file_size=max(limits.output_kb * 1024, MAX_FILE_BYTES),
    )


def largest_budget(assignment: Assignment) -> Budget:
    """Return a budget that holds that of every component."""
    budgets = [astuple(budget_of(spec.limits)) for spec in assignment.components]
    return Budget(*map(max, zip(*budgets, strict=True)))


def all_forbidden(assignment: Assignment) -> tuple[str, ...]:
    """Return the operations, functions and classes that some component forbids."""
    rules = [spec.rules for spec in assignment.components]
    return tuple(dict.fromkeys(name for r in rules for name in (*r.forbidden, *r.functions)))


@dataclass(frozen=True)
class ComponentTime:
    """The time of one component in one phase.

    Attributes:
        clock: counts what the submission's children take.
        begin: when it began, by this clock.
        end: when it is over.
        words: what is said then.
    """

    clock: Clock
    begin: float
    end: float
    words: str

    def spent(self) -> float:
        """Return how many seconds it has been used for."""
        return self.clock.now - self.begin


@dataclass
class ComponentRun:
    """A component on one set of files; a criterion runs when it is asked for.

    What runs criteria raises SandboxFault or ReferenceFault at a fault of the grader.
    """

    judge: Judge
    spec: ComponentSpec
    files: Mapping[str, bytes]  # the submission's, by name
    exempt: Sequence[str]  # files that may call what is forbidden
    stand_ins: tuple[str, ...]  # the components that have a stand-in among the files
    time: ComponentTime  # how much it may take, whatever is done in it
    # Look for misconceptions, for code that is not steady, and for views. Without it there are bare
    # outcomes, and the first death ends the component.
    thorough: bool
    explaining: bool  # keep also what was answered to hidden questions
    # The files that run with all of Python, because a person said they may; None for all.
    free: tuple[str, ...] | None
    used: Usage  # what its processes use is added here

    def __post_init__(self) -> None:
        assignment, spec, provided = self.judge.assignment, self.spec, self.judge.provided
        uses = {c.name: c.uses for c in assignment.components}
        profile = Profile(
            budget_of(spec.limits),
            spec.rules.rules(),
            spec.program,
            ours=(*self.exempt, *(name for name in provided if name.endswith(".py"))),
            others=tuple(files_of(used_by(spec.name, uses))),
            free=self.free,
            stubs=self.judge.stubs,
        )
        claims = Claims(
            _lines_of(self.files),
            files_of(other for other in assignment.totals if other != spec.name),
            profile.rules.names,
        )
        files = with_provided(self.files, provided)
        self.criteria = self.judge.suite.criteria[spec.name]
        # By criterion, what came of it.
        self.tried: dict[str, Attempt] = {}
        # Whether a second look at the work would show something else.
        self.unsteady = False
        self._run_again = _RUN_AGAIN if self.thorough else 0
        self._room = _MOST_KEPT
        self._session = ComponentSession(
            fork=lambda: self.judge.sandbox.fork(spec.name, files, profile),
            claims=claims,
            deaths_allowed=spec.limits.deaths if self.thorough else 1,
            end_of_time=self.time.end,
            clock=self.time.clock,
            used=self.used,
        )

    @property
    def forbidden(self) -> ForbiddenUse | None:
        """The forbidden operation that was called, or None."""
        fault = self._session.fault
        return fault if isinstance(fault, ForbiddenUse) else None

    def attempt(self, criterion: Criterion) -> Attempt:
        """Run a criterion, if it has not been run before."""
        if criterion.id not in self.tried:
            self.tried[criterion.id] = self._run(criterion)
        return self.tried[criterion.id]

    def attempts(self) -> list[Attempt]:
        """Return what came of the public criteria."""
        return [self.attempt(c) for c in self.criteria if c.visibility == "public"]

    def close(self) -> None:
        """End its process, until more is asked."""
        self._session.close()

    def keep_silent(self, time: ComponentTime) -> None:
        """Ask hidden questions from now on: of an answer is kept whether it was right.

        All that may be shown is settled before, and the child that it was settled with is gone.

        Args:
            time: how much is left.
        """
        self._session.secret = True
        self.time = time
        self._session.extend(time.end)

    def status(self) -> tuple[ComponentStatus, str]:
        """Say how the component stands by what was run, with a message."""
        attempts, over = list(self.tried.values()), self._session.over
        fault = self._session.fault
        if isinstance(fault, ForbiddenUse):
            return "forbidden", forbidden_words(fault)
        if fault is not None:
            return "import_error", error_words(fault)
        if attempts and all(attempt.not_attempted for attempt in attempts):
            return "not_attempted", "nothing in it is written yet"
        if not over and any(attempt.outcome == "not_run" for attempt in attempts):
            over = LATE
        if over in (LATE, "timeout"):
            why = self.time.words if over == LATE else "it took too long"
            return "timeout", f"{why}; what came after was not run"
        if over == "crashed":
            return "crashed", "its process died; what came after was not run"
        return "graded", ""

    def diagnose(self) -> Diagnosis:
        """Find the misconceptions behind those public criteria that are lost.

        Hidden answers have no part in it: a name that is told could carry out what was asked.
        """
        attempts = self.attempts()
        # Nothing can be said about the answers of what was not imported, or is forbidden.
        silent = not self.thorough or self._session.fault is not None
        if silent or all(attempt.outcome == "passed" for attempt in attempts):
            return Diagnosis()
        examples = [
            example
            for a in attempts
            for example in examples_in(
                a.criterion.id, a.outcome == "passed", a.heard, a.criterion.free
            )
        ]
        with self._session.aside():
            return self.judge.diagnoser.diagnose(self.spec.name, examples, self._session.ask_more)

    def views(self) -> list[dict[str, Any]]:
        """Return what the suite shows of the work; no mark depends on it."""
        suite, session = self.judge.suite, self._session
        found: list[dict[str, Any]] = []
        if not self.thorough or session.over:
            return found
        with session.aside(), contextlib.suppress(NotRun, ChildGone):
            if session.begin(suite.plans[self.spec.name]):
                return suite.views[self.spec.name]
            found = suite.view(self.spec.name, session)
            self.unsteady = suite.view(self.spec.name, session) != found
        return found

    def _run(self, criterion: Criterion) -> Attempt:
        session = self._session
        if session.over:
            return Attempt(criterion)
        suite = self.judge.suite
        met = suite.met(criterion) if session.begin(suite.plans[criterion.id]) else None
        attempt = self._live(criterion) if met is None else met
        attempt.stand_ins = self.stand_ins
        if not session.secret and can_be_asked_again(suite.plans[criterion.id]):
            heard = self._kept(session.heard)
            attempt.heard = [(planned.request, planned.reply) for planned in heard]
        self._judge_of(attempt)
        return attempt

    def _live(self, criterion: Criterion) -> Attempt:
        """Run a criterion's test, which asks the component while it runs."""
        suite, session = self.judge.suite, self._session
        recorder = Recorder(session)
        asked: Session = recorder if self.explaining else session
        if not suite.checks[criterion.id].is_ordinary:
            # An ordinary test looks at the kinds of answers itself.
            asked = SameKinds(asked, suite.plans[criterion.id])
        attempt = suite.run(criterion, asked)
        if attempt.left_open:
            session.renew(attempt.failure if isinstance(attempt.failure, OverLimits) else None)
        attempt.asked = self._kept(recorder.plan)
        return attempt

    def _judge_of(self, attempt: Attempt) -> None:
        """Say what an attempt came to.

        Whatever else of a hidden criterion the student's code decides (how far off a value is,
        which exception is raised, where) could carry out what it was asked: none of it is told.
        """
        failure = attempt.failure
        if isinstance(failure, _FAULTS):
            raise failure
        if failure is None:
            attempt.outcome = "passed"
        elif isinstance(failure, NotRun):
            attempt.passed = 0
        else:
            self._judge_lost(attempt, failure)
            if self._session.secret:
                attempt.hide()

    def _judge_lost(self, attempt: Attempt, failure: BaseException) -> None:
        """Say what a lost criterion came to, as of a public one."""
        if isinstance(failure, ChildGone):
            attempt.outcome = "timeout" if failure.reason == "timeout" else "crashed"
            attempt.facts = [*attempt.of_cases(), failure.words]
            return
        found = find(failure, attempt.question)
        attempt.facts, attempt.hints = [*attempt.of_cases(), *found.facts], list(found.hints)
        attempt.outcome = "failed" if found.outcome == "failed" else "student_error"
        # Another component's stub stops this one too, but this one was attempted.
        files = {Path(file).name for file in self.files if is_of(file, self.spec.name)}
        own = isinstance(failure, StudentRaised) and failure.error.file in files
        attempt.not_attempted = own and found.outcome == "not_attempted"
        if isinstance(failure, CheckFailed) and self._passes_again(attempt.criterion):
            attempt.unsteady = True
            attempt.hints.append(_UNSTEADY)

    def _passes_again(self, criterion: Criterion) -> bool:
        """Run a failed criterion once more, to name code that answers the same call differently."""
        if self._session.secret or self._session.over or not self._run_again:
            return False
        self._run_again -= 1
        again = self._live(criterion).failure
        if isinstance(again, _FAULTS):
            raise again
        return again is None

    def _kept(self, heard: Sequence[Planned]) -> list[Planned]:
        """Return a transcript without the replies that there is no room for."""
        found = []
        for planned in heard:
            self._room -= sum(tensor.nbytes for tensor in planned.reply.tensors())
            # A reply that is not kept equals no other.
            found.append(planned if self._room > 0 else replace(planned, reply=_NOT_KEPT))
        return found


def counted(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Withhold the points of form until another criterion of the component holds, in part."""
    if form_counts((attempt.criterion, attempt.share) for attempt in attempts):
        return list(attempts)
    return [_withheld(a) if a.criterion.form and a.share else a for a in attempts]


def _withheld(attempt: Attempt) -> Attempt:
    outcome = "failed" if attempt.outcome == "passed" else attempt.outcome
    return replace(attempt, outcome=outcome, passed=0, facts=[*attempt.facts, COUNTS_LATER])


def _lines_of(files: Mapping[str, bytes]) -> dict[str, int]:
    """Return how many lines a file of each name has at most."""
    found: dict[str, int] = {}
    for path, text in files.items():
        name = Path(path).name
        found[name] = max(found.get(name, 0), len(text.splitlines()) + 1)
    return found
