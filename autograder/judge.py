"""Grade one submission: a child a component, criteria run against it, marks from the answers."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from autograder.assignment import Assignment
from autograder.exchange.messages import ForbiddenUse, Reply, Request, StudentError
from autograder.results import ComponentResult, ComponentStatus, CriterionResult, Outcome
from autograder.sandbox.handle import Child, ChildGone, SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.suite.answer import CheckFailed, StudentRaised
from autograder.suite.judging import JudgePlugin
from autograder.suite.plan import Planned, request_digest
from autograder.suite.plugin import Criterion
from autograder.suite.reference import ReferenceFault
from autograder.suite.wording import error_words, explain, forbidden_words

_T = TypeVar("_T")
# Less than any Unix socket's buffer, in both directions.
_BYTES_AHEAD = 48 * 1024
_FAULTS = (SandboxFault, ReferenceFault, MemoryError, KeyboardInterrupt, SystemExit)


class _NotRun(Exception):
    """The component is over: no more questions are put to it."""


@dataclass
class _Verdict:
    """What running one criterion came to."""

    outcome: Outcome
    message: str = ""
    not_attempted: bool = False


@dataclass
class _ComponentSession:
    """Carries requests to the children of one component, forking anew after a death."""

    fork: Callable[[], Child]
    component: str
    siblings: frozenset[str]
    deaths_allowed: int
    child: Child | None = None
    deaths: int = 0
    over: str = ""
    load_error: StudentError | None = None
    forbidden: ForbiddenUse | None = None
    _plan: Sequence[Planned] = ()
    _next: int = 0
    _ahead: deque[tuple[int, int]] = field(default_factory=deque)
    _asked: list[Request] = field(default_factory=list)

    def begin(self, plan: Sequence[Planned]) -> None:
        """Begin a criterion that is expected to make the requests of `plan`."""
        self._plan, self._next, self._asked = plan, 0, []

    def end(self) -> None:
        """Fetch and drop the answers that the criterion did not get as far as reading."""
        with contextlib.suppress(ChildGone, _NotRun):
            while self._ahead and self.child is not None:
                self._note(self._receive(self.child))

    def perform(self, request: Request) -> Reply:
        if self.over:
            raise _NotRun
        child = self._loaded_child()
        planned = self._next < len(self._plan)
        if planned and self._plan[self._next].digest == request_digest(request):
            self._post_ahead(child)
            reply = self._receive(child)
            self._next += 1
        else:
            child = self._leave_the_plan(child)
            reply = self._guarded(partial(child.perform, request))
        self._asked.append(request)
        self._note(reply)
        return reply

    def close(self) -> None:
        if self.child is not None:
            self.child.close()
            self.child = None

    def _loaded_child(self) -> Child:
        if self.child is None:
            child = self.child = self.fork()
            loaded = self._guarded(partial(child.perform, Request()), loading=True)
            self.load_error = loaded.error
            self._note(loaded)
            if self.load_error is not None:
                self.over = "import_error"
                raise _NotRun
        return self.child

    def _post_ahead(self, child: Child) -> None:
        """Keep as many requests under way as the socket surely holds."""
        at = self._next + len(self._ahead)
        under_way = sum(size for _, size in self._ahead)
        while at < len(self._plan):
            frame = self._plan[at].frame
            if self._ahead and under_way + len(frame) > _BYTES_AHEAD:
                return
            self._ahead.append((self._guarded(partial(child.post, frame)), len(frame)))
            under_way += len(frame)
            at += 1

    def _receive(self, child: Child) -> Reply:
        nonce, _ = self._ahead.popleft()
        return self._guarded(partial(child.answer, nonce))

    def _leave_the_plan(self, child: Child) -> Child:
        """Go on without a plan; a child that has seen requests ahead is replaced."""
        self._plan = ()
        if not self._ahead:
            return child
        self._ahead.clear()
        self.close()
        child = self._loaded_child()
        for request in self._asked:
            self._guarded(partial(child.perform, request))
        return child

    def _guarded(self, ask: Callable[[], _T], loading: bool = False) -> _T:
        try:
            return ask()
        except ChildGone as gone:
            self.child = None
            self._ahead.clear()
            self._plan = ()
            self.deaths += 1
            if loading or self.deaths >= self.deaths_allowed:
                self.over = gone.reason
            raise

    def _note(self, reply: Reply) -> None:
        for use in reply.forbidden:
            # Charged to the file that calls it; another component answers for itself.
            if use.file not in self.siblings:
                self.forbidden = use
                self.over = "forbidden"
                raise _NotRun


def grade_submission(
    assignment: Assignment, suite: JudgePlugin, sandbox: Sandbox, files: Mapping[str, bytes]
) -> dict[str, ComponentResult]:
    """Grade every component of a submission.

    Args:
        assignment: the assignment.
        suite: its collected suites.
        sandbox: a running sandbox.
        files: the submission's files by name.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    results = {}
    for name in assignment.totals:
        results[name] = _grade_component(assignment, suite, sandbox, files, name)
    return results


def _grade_component(
    assignment: Assignment,
    suite: JudgePlugin,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    name: str,
) -> ComponentResult:
    criteria = suite.criteria[name]
    total = assignment.totals[name]
    source = files.get(f"{name}.py")
    if source is None:
        return _ungraded(criteria, total, "missing", f"there is no {name}.py")
    stub = assignment.public / f"{name}.py"
    if stub.is_file() and source.split() == stub.read_bytes().split():
        return _ungraded(criteria, total, "not_attempted", f"{name}.py is still the empty stub")
    session = _ComponentSession(
        fork=lambda: sandbox.fork(name, files),
        component=name,
        siblings=frozenset(f"{other}.py" for other in assignment.totals if other != name),
        deaths_allowed=assignment.limits.deaths,
    )
    end = time.monotonic() + assignment.limits.component_wall_s
    try:
        verdicts = []
        for criterion in criteria:
            if time.monotonic() > end and not session.over:
                session.over = "timeout"
            verdicts.append(_run(suite, criterion, session))
    finally:
        session.close()
    if session.forbidden is not None:
        return _forbidden(criteria, total, forbidden_words(session.forbidden))
    if session.load_error is not None:
        words = error_words(session.load_error, reveal=True)
        return _ungraded(criteria, total, "import_error", words)
    if verdicts and all(verdict.not_attempted for verdict in verdicts):
        return _ungraded(criteria, total, "not_attempted", "nothing in it is written yet")
    status: ComponentStatus = "graded"
    message = ""
    if session.over == "timeout":
        status, message = "timeout", "it took too long; what came after was not run"
    elif session.over == "crashed":
        status, message = "crashed", "its process died; what came after was not run"
    marked = [
        _mark(criterion, verdict) for criterion, verdict in zip(criteria, verdicts, strict=True)
    ]
    score = sum(result.score for result in marked)
    return ComponentResult(
        score=score, max_score=total, status=status, criteria=marked, message=message
    )


def _run(suite: JudgePlugin, criterion: Criterion, session: _ComponentSession) -> _Verdict:
    if session.over:
        return _Verdict("not_run")
    reveal = criterion.visibility == "public"
    failure = _ask(suite, criterion, session)
    if failure is None:
        return _Verdict("passed")
    if isinstance(failure, _FAULTS):
        raise failure
    if isinstance(failure, _NotRun):
        return _Verdict("not_run")
    if isinstance(failure, ChildGone):
        return _Verdict("timeout" if failure.reason == "timeout" else "crashed", failure.words)
    found = explain(failure, suite.question, reveal)
    message = found.message
    if isinstance(failure, CheckFailed) and _passes_again(suite, criterion, session):
        message += "\nhint: the same call was answered differently a second time"
    if found.outcome == "failed":
        return _Verdict("failed", message)
    # Another component's stub stops this one too, but this one was attempted.
    own = isinstance(failure, StudentRaised) and failure.error.file == f"{session.component}.py"
    return _Verdict("student_error", message, found.outcome == "not_attempted" and own)


def _ask(
    suite: JudgePlugin, criterion: Criterion, session: _ComponentSession
) -> BaseException | None:
    session.begin(suite.plans[criterion.id])
    try:
        return suite.run(criterion, session)
    finally:
        session.end()


def _passes_again(suite: JudgePlugin, criterion: Criterion, session: _ComponentSession) -> bool:
    """Run a failed criterion once more, to name code that answers the same call differently."""
    if session.over:
        return False
    question = suite.question
    again = _ask(suite, criterion, session)
    suite.question = question
    if isinstance(again, _FAULTS):
        raise again
    return again is None


def _mark(criterion: Criterion, verdict: _Verdict) -> CriterionResult:
    passed = None if verdict.outcome == "not_run" else verdict.outcome == "passed"
    return _criterion_result(criterion, passed, verdict.outcome, verdict.message)


def _ungraded(
    criteria: list[Criterion], total: float, status: ComponentStatus, message: str
) -> ComponentResult:
    marked = [_criterion_result(criterion, None, "not_run", message) for criterion in criteria]
    return ComponentResult(
        score=0.0, max_score=total, status=status, criteria=marked, message=message
    )


def _forbidden(criteria: list[Criterion], total: float, message: str) -> ComponentResult:
    marked = [_criterion_result(criterion, False, "failed", message) for criterion in criteria]
    return ComponentResult(
        score=0.0, max_score=total, status="forbidden", criteria=marked, message=message
    )


def _criterion_result(
    criterion: Criterion, passed: bool | None, outcome: Outcome, message: str
) -> CriterionResult:
    return CriterionResult(
        id=criterion.id,
        title=criterion.title,
        score=criterion.points if passed else 0.0,
        max_score=criterion.points,
        passed=passed,
        outcome=outcome,
        visibility="hidden" if criterion.visibility == "hidden" else "public",
        source=criterion.source,
        message=message,
    )
