"""Grade one submission: every component, on its own and with what it uses, from its criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.assignment import ComponentSpec
from autograder.checks import ComponentRun, Judge, Verdict
from autograder.diagnosis import Diagnosis
from autograder.follow_through import with_stand_ins
from autograder.results import ComponentResult, ComponentStatus, CriterionResult
from autograder.suite.plugin import Criterion


def grade_submission(
    judge: Judge, files: Mapping[str, bytes], exempt: Sequence[str] = ()
) -> dict[str, ComponentResult]:
    """Grade every component of a submission.

    Args:
        judge: what to grade it with.
        files: the submission's files by name.
        exempt: files that may call what is forbidden, as stand-ins do.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    results: dict[str, ComponentResult] = {}
    for spec in judge.assignment.components:
        broken = [used for used in spec.uses if results[used].score < results[used].max_score]
        results[spec.name] = grade_component(judge, spec, files, exempt, broken)
    return results


def grade_component(
    judge: Judge,
    spec: ComponentSpec,
    files: Mapping[str, bytes],
    exempt: Sequence[str],
    broken: Sequence[str],
) -> ComponentResult:
    """Grade one component of a submission.

    Args:
        judge: what to grade it with.
        spec: the component.
        files: the submission's files by name.
        exempt: files that may call what is forbidden.
        broken: the components that it may use and that lost points.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    name = spec.name
    criteria = judge.suite.criteria[name]
    source = files.get(f"{name}.py")
    if source is None:
        return _unrun(criteria, "missing", f"there is no {name}.py")
    stub = judge.assignment.public / f"{name}.py"
    if stub.is_file() and source.split() == stub.read_bytes().split():
        return _unrun(criteria, "not_attempted", f"{name}.py is still the empty stub")
    with ComponentRun(judge, name, files, exempt) as own:
        if not broken:
            return _shown(own, _result(own, own.diagnose()))
        # Errors of what it uses are no misconceptions of its own: they are not looked for here.
        if not own.loses_early() or own.forbidden is not None:
            return _shown(own, _result(own, Diagnosis()))
        working = with_stand_ins(judge.assignment, files, broken)
        stand_ins = (*exempt, *(f"{used}.py" for used in broken))
        with ComponentRun(judge, name, working, stand_ins) as followed:
            return _shown(own, _better(own, followed, broken))


def _shown(own: ComponentRun, result: ComponentResult) -> ComponentResult:
    """Add what the suite shows of the student's own work, once the marks are made."""
    result.views = own.views()
    return result


def _better(own: ComponentRun, followed: ComponentRun, broken: Sequence[str]) -> ComponentResult:
    """Count for every criterion the better of the own run and one with stand-ins."""
    for criterion in own.criteria:
        # What the stand-ins do not mend may still be right without them.
        if not own.passed(criterion) and not followed.verdict(criterion).passed:
            own.verdict(criterion)
    if followed.forbidden is not None:
        return _result(followed, Diagnosis())
    gained = [c for c in own.criteria if followed.passed(c) and not own.passed(c)]
    lost = [c for c in own.criteria if not followed.passed(c) and not own.passed(c)]
    diagnosis = followed.diagnose() if lost else Diagnosis()
    if not gained and not diagnosis.found:
        return _result(own, Diagnosis())
    note = f"graded with a working {', '.join(broken)}"
    marked = []
    for criterion in own.criteria:
        verdict = own.verdict(criterion) if criterion not in gained else Verdict("passed", note)
        if criterion in lost and diagnosis.found:
            # Only with working parts in place does its own mistake show clearly.
            verdict = followed.verdict(criterion)
        marked.append(_mark(criterion, verdict, diagnosis))
    status, message = followed.status()
    result = _assembled(marked, status, message, diagnosis)
    result.message = "\n".join(filter(None, (note, result.message)))
    result.stand_ins = list(broken)
    return result


def _result(run: ComponentRun, diagnosis: Diagnosis) -> ComponentResult:
    status, message = run.status()
    if status in ("import_error", "not_attempted"):
        return _unrun(run.criteria, status, message)
    if status == "forbidden":
        marked = [_mark(c, Verdict("failed", message), diagnosis) for c in run.criteria]
    else:
        marked = [_mark(c, run.verdict(c), diagnosis) for c in run.criteria]
    return _assembled(marked, status, message, diagnosis)


def _unrun(criteria: list[Criterion], status: ComponentStatus, message: str) -> ComponentResult:
    marked = [_mark(criterion, Verdict("not_run", message), Diagnosis()) for criterion in criteria]
    return _assembled(marked, status, message, Diagnosis())


def _assembled(
    marked: list[CriterionResult], status: ComponentStatus, message: str, diagnosis: Diagnosis
) -> ComponentResult:
    return ComponentResult(
        score=sum(criterion.score for criterion in marked),
        max_score=sum(criterion.max_score for criterion in marked),
        status=status,
        criteria=marked,
        misconceptions=[misconception.id for misconception in diagnosis.found],
        either=diagnosis.either,
        message="\n".join(filter(None, (message, diagnosis.words))),
    )


def _mark(criterion: Criterion, verdict: Verdict, diagnosis: Diagnosis) -> CriterionResult:
    message = verdict.message
    if criterion.id in diagnosis.explained:
        message += f"\nlikely cause: {diagnosis.words}"
    return CriterionResult(
        id=criterion.id,
        title=criterion.title,
        score=criterion.points if verdict.passed else 0.0,
        max_score=criterion.points,
        passed=verdict.passed,
        outcome=verdict.outcome,
        visibility="hidden" if criterion.visibility == "hidden" else "public",
        source=criterion.source,
        message=message,
    )
