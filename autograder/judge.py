"""Grade one submission: a child a component, criteria run against it, marks from the answers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from autograder.assignment import Assignment
from autograder.results import ComponentResult, ComponentStatus, CriterionResult, Outcome
from autograder.sandbox.handle import ChildGone, SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.session import ComponentSession, NotRun
from autograder.suite.answer import CheckFailed, StudentRaised
from autograder.suite.judging import JudgePlugin
from autograder.suite.plugin import Criterion
from autograder.suite.reference import ReferenceFault
from autograder.suite.wording import error_words, explain, forbidden_words

# A component that was not done, or did what is forbidden, has no points to be followed through to.
_NOTHING_TO_FOLLOW = ("missing", "not_attempted", "forbidden")
_FAULTS = (SandboxFault, ReferenceFault, MemoryError, KeyboardInterrupt, SystemExit)


@dataclass
class _Verdict:
    """What running one criterion came to."""

    outcome: Outcome
    message: str = ""
    not_attempted: bool = False


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
    results: dict[str, ComponentResult] = {}
    for spec in assignment.components:
        grade = partial(_grade_component, assignment, suite, sandbox, name=spec.name)
        own = grade(files)
        results[spec.name] = own
        broken = [used for used in spec.uses if results[used].score < results[used].max_score]
        if own.status not in _NOTHING_TO_FOLLOW and own.score < own.max_score and broken:
            working = {f"{used}.py": assignment.stand_in(used).read_bytes() for used in broken}
            again = grade({**files, **working}, stand_ins=tuple(working))
            results[spec.name] = _better(own, again, broken)
    return results


def _better(own: ComponentResult, again: ComponentResult, broken: list[str]) -> ComponentResult:
    """Count for every criterion the better of a run and one with stand-ins."""
    if again.status == "forbidden":
        return again
    note = f"graded with a working {', '.join(broken)}"
    criteria = []
    for mine, followed in zip(own.criteria, again.criteria, strict=True):
        better = mine
        if followed.score > mine.score:
            better = followed.model_copy(update={"message": note})
        criteria.append(better)
    score = sum(criterion.score for criterion in criteria)
    if score == own.score:
        return own
    return ComponentResult(
        score=score,
        max_score=own.max_score,
        status=again.status,
        criteria=criteria,
        message=note,
        stand_ins=broken,
    )


def _grade_component(
    assignment: Assignment,
    suite: JudgePlugin,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    name: str,
    stand_ins: Sequence[str] = (),
) -> ComponentResult:
    criteria = suite.criteria[name]
    total = assignment.totals[name]
    source = files.get(f"{name}.py")
    if source is None:
        return _ungraded(criteria, total, "missing", f"there is no {name}.py")
    stub = assignment.public / f"{name}.py"
    if stub.is_file() and source.split() == stub.read_bytes().split():
        return _ungraded(criteria, total, "not_attempted", f"{name}.py is still the empty stub")
    session = ComponentSession(
        fork=partial(sandbox.fork, name, files, stand_ins),
        siblings=frozenset(f"{other}.py" for other in assignment.totals if other != name),
        deaths_allowed=assignment.limits.deaths,
        end_of_time=time.monotonic() + assignment.limits.component_wall_s,
    )
    try:
        verdicts = []
        for criterion in criteria:
            verdicts.append(_run(suite, criterion, session, f"{name}.py"))
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


def _run(
    suite: JudgePlugin, criterion: Criterion, session: ComponentSession, file: str
) -> _Verdict:
    if session.over:
        return _Verdict("not_run")
    reveal = criterion.visibility == "public"
    failure = _ask(suite, criterion, session)
    if failure is None:
        return _Verdict("passed")
    if isinstance(failure, _FAULTS):
        raise failure
    if isinstance(failure, NotRun):
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
    own = isinstance(failure, StudentRaised) and failure.error.file == file
    return _Verdict("student_error", message, found.outcome == "not_attempted" and own)


def _ask(
    suite: JudgePlugin, criterion: Criterion, session: ComponentSession
) -> BaseException | None:
    session.begin(suite.plans[criterion.id])
    try:
        return suite.run(criterion, session)
    finally:
        session.end()


def _passes_again(suite: JudgePlugin, criterion: Criterion, session: ComponentSession) -> bool:
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
