"""Grade one submission: every component, on its own and with what it uses, from its criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from autograder.assignment import ComponentSpec
from autograder.judge.clock import ComponentTime, SubmissionTime, component_time
from autograder.judge.component import ComponentRun, Observer
from autograder.judge.diagnosis import Diagnosis
from autograder.judge.judge import Judge
from autograder.judge.stand_ins import files_of, reached, with_stand_ins
from autograder.judge.verdict import Verdict, counted
from autograder.results import ComponentResult, ComponentStatus, CriterionResult, losing_points
from autograder.suite.criterion import Criterion
from autograder.suite.wording import lines_of


class Watcher(Protocol):
    """Sees the runs that a component is graded from."""

    def observer(self, stand_ins: Sequence[str]) -> Observer:
        """Return what is to see the criteria of a run with these stand-ins."""

    def counts(self, criteria: Sequence[str], stand_ins: Sequence[str]) -> None:
        """Note the run that criteria are marked by, where it is not the one without stand-ins."""


def grade_submission(
    judge: Judge,
    files: Mapping[str, bytes],
    exempt: Sequence[str] = (),
    only: Sequence[str] = (),
    diagnose: bool = True,
) -> dict[str, ComponentResult]:
    """Grade the components of a submission that the suite is about.

    Args:
        judge: what to grade it with.
        files: the submission's files by name.
        exempt: files that may call what is forbidden, as stand-ins do.
        only: the components to grade; empty for all.
        diagnose: look for misconceptions and show the student's work, beside giving marks.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    results: dict[str, ComponentResult] = {}
    asked = [name for name in judge.suite.criteria if not only or name in only]
    time = SubmissionTime(judge.assignment.submission_wall_s, len(asked))
    for spec in judge.assignment.components:
        # An author may try out the suite of one alone.
        if spec.name not in asked:
            continue
        broken = losing_points(results, spec.uses)
        own = time.next(spec.limits.component_wall_s)
        results[spec.name] = grade_component(
            judge, spec, files, exempt, broken, diagnose=diagnose, time=own
        )
    return results


def grade_component(
    judge: Judge,
    spec: ComponentSpec,
    files: Mapping[str, bytes],
    exempt: Sequence[str],
    broken: Sequence[str],
    watcher: Watcher | None = None,
    diagnose: bool = True,
    time: ComponentTime | None = None,
) -> ComponentResult:
    """Grade one component of a submission.

    Args:
        judge: what to grade it with.
        spec: the component.
        files: the submission's files by name.
        exempt: files that may call what is forbidden.
        broken: the components that it may use and that lost points.
        watcher: sees how it is done.
        diagnose: look for misconceptions and show the student's work, beside giving marks.
        time: how much it may take in all; by default the component's limit.

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
    observer = None if watcher is None else watcher.observer([])
    time = time or component_time(spec.limits.component_wall_s)
    lost_before, broken = broken, reached(broken, files)
    with ComponentRun(judge, name, files, exempt, observer, diagnose, time) as own:
        if not broken:
            # What components share in a file of its own may be wrong for each of them.
            own_modules = {file for file in files if file.endswith(".py")}
            shared = lost_before and not own_modules <= files_of(judge.assignment.totals)
            return _shown(own, _result(own, Diagnosis() if shared else own.diagnose()))
        # Errors of what it uses are no misconceptions of its own: they are not looked for here.
        # Without a line, it may be what a broken component did that it uses.
        if not own.loses_early() or (own.forbidden is not None and own.forbidden.file):
            own.go_on()
            return _shown(own, _result(own, Diagnosis()))
        working = with_stand_ins(judge.assignment, files, broken)
        stand_ins = (*exempt, *(f"{used}.py" for used in broken))
        observer = None if watcher is None else watcher.observer(broken)
        with ComponentRun(judge, name, working, stand_ins, observer, diagnose, time) as followed:
            return _shown(own, _better(own, followed, broken, watcher))


def _shown(own: ComponentRun, result: ComponentResult) -> ComponentResult:
    """Add what the suite shows of the student's own work, once the marks are made."""
    result.views = own.views()
    own.end()
    result.usage = own.used
    return result


def _better(
    own: ComponentRun, followed: ComponentRun, broken: Sequence[str], watcher: Watcher | None
) -> ComponentResult:
    """Count for every criterion the better of the own run and one with stand-ins."""
    for criterion in own.criteria:
        if not own.passed(criterion):
            followed.verdict(criterion)
    own.go_on()
    for criterion in own.criteria:
        # What the stand-ins do not mend may still be right without them.
        if not own.passed(criterion) and not followed.verdict(criterion).passed:
            own.verdict(criterion)
    if followed.forbidden is not None:
        if watcher is not None:
            watcher.counts([criterion.id for criterion in own.criteria], broken)
        return _result(followed, Diagnosis())
    gained = [c for c in own.criteria if followed.share(c) > own.share(c)]
    lost = [c for c in own.criteria if max(followed.share(c), own.share(c)) < 1.0]
    diagnosis = followed.diagnose() if lost else Diagnosis()
    if not gained and not diagnosis.found and own.forbidden is None:
        # A stub that another one stops shows only with that one's stand-in that it is a stub.
        untouched = len(lost) == len(own.criteria) and followed.status()[0] == "not_attempted"
        return _result(followed if untouched else own, Diagnosis())
    verdicts = []
    for criterion in own.criteria:
        verdict = own.verdict(criterion)
        if criterion in gained and criterion not in lost:
            there = followed.verdict(criterion)
            verdict = replace(there, facts=[_with_working(broken)], hints=[])
        elif (
            criterion in gained
            or (criterion in lost and diagnosis.found)
            or own.forbidden is not None
        ):
            # Only with working parts in place does its own mistake show clearly.
            verdict = followed.verdict(criterion)
        if watcher is not None and verdict is not own.verdict(criterion):
            watcher.counts([criterion.id], broken)
        verdicts.append(verdict)
    status, reason = followed.status()
    marked = _marked(followed, verdicts, diagnosis)
    return _assembled(marked, status, reason, diagnosis, broken)


def _marked(
    run: ComponentRun, verdicts: Sequence[Verdict], diagnosis: Diagnosis
) -> list[CriterionResult]:
    pairs = zip(run.criteria, counted(run.criteria, verdicts), strict=True)
    return [_mark(criterion, verdict, diagnosis) for criterion, verdict in pairs]


def _with_working(stand_ins: Sequence[str]) -> str:
    return f"graded with a working {', '.join(stand_ins)}"


def _result(run: ComponentRun, diagnosis: Diagnosis) -> ComponentResult:
    status, reason = run.status()
    if status in ("import_error", "not_attempted"):
        return _unrun(run.criteria, status, reason)
    if status == "forbidden":
        marked = [_mark(c, Verdict("failed", facts=[reason]), diagnosis) for c in run.criteria]
    else:
        marked = _marked(run, run.verdicts(), diagnosis)
    return _assembled(marked, status, reason, diagnosis)


def _unrun(criteria: list[Criterion], status: ComponentStatus, reason: str) -> ComponentResult:
    verdict = Verdict("not_run", facts=[reason])
    marked = [_mark(criterion, verdict, Diagnosis()) for criterion in criteria]
    return _assembled(marked, status, reason, Diagnosis())


def _assembled(
    marked: list[CriterionResult],
    status: ComponentStatus,
    reason: str,
    diagnosis: Diagnosis,
    stand_ins: Sequence[str] = (),
) -> ComponentResult:
    note = _with_working(stand_ins) if stand_ins else ""
    return ComponentResult(
        score=sum(criterion.score for criterion in marked),
        max_score=sum(criterion.max_score for criterion in marked),
        status=status,
        criteria=marked,
        misconceptions=[misconception.id for misconception in diagnosis.found],
        either=diagnosis.either,
        stand_ins=list(stand_ins),
        notes=[line for line in (note, reason) if line],
        causes=[diagnosis.words] if diagnosis.found else [],
        message="\n".join(filter(None, (note, reason, diagnosis.words))),
    )


def _mark(criterion: Criterion, verdict: Verdict, diagnosis: Diagnosis) -> CriterionResult:
    causes = [diagnosis.words] if criterion.id in diagnosis.explained else []
    lines = lines_of(verdict.facts, verdict.hints) + [f"likely cause: {words}" for words in causes]
    return CriterionResult(
        id=criterion.id,
        title=criterion.title,
        score=round(criterion.points * verdict.share, 4),
        max_score=criterion.points,
        passed=verdict.passed,
        cases=verdict.cases,
        passed_cases=round(verdict.share * verdict.cases),
        outcome=verdict.outcome,
        visibility="hidden" if criterion.visibility == "hidden" else "public",
        form=criterion.form,
        source=criterion.source,
        facts=[line for fact in verdict.facts for line in fact.splitlines()],
        hints=list(verdict.hints),
        causes=causes,
        message="\n".join(lines),
    )
