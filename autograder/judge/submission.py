"""Grade one submission: every component, on its own and with what it uses, from its criteria."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from autograder.assignment import ComponentSpec
from autograder.exchange.rules import used_by
from autograder.judge.clock import ComponentTime, SubmissionTime
from autograder.judge.component import ComponentRun, Observer
from autograder.judge.diagnosis import Diagnosis
from autograder.judge.judge import Judge
from autograder.judge.review import HELD_WORDS, Review, held_words, review
from autograder.judge.stand_ins import files_of, reached, with_stand_ins
from autograder.judge.verdict import Verdict, counted
from autograder.results import (
    ComponentResult,
    ComponentStatus,
    CriterionResult,
    Held,
    losing_points,
)
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
    accepted: Mapping[str, str] | None = None,
) -> dict[str, ComponentResult]:
    """Grade the components of a submission that the suite is about, in two phases.

    Before any of it runs it is read: what is out of the ordinary waits for a person.

    First all that anyone may be shown is settled for every component: public criteria, what is
    drawn, which mistake it is. Then hidden questions are asked, of children that begin anew.

    Args:
        judge: what to grade it with.
        files: the submission's files by name.
        exempt: files that may call what is forbidden, as stand-ins do.
        only: the components to grade; empty for all.
        diagnose: look for misconceptions and show the student's work, beside giving marks.
        accepted: by component, the digest of what a person has accepted.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    read = review(judge.assignment, judge.sandbox, files, exempt, accepted)
    # An author may try out the suite of one alone.
    asked = [
        spec
        for spec in judge.assignment.components
        if spec.name in judge.suite.criteria and (not only or spec.name in only)
    ]
    time = SubmissionTime(judge.assignment.submission_wall_s, 2 * len(asked))
    parts: dict[str, _Component] = {}
    results: dict[str, ComponentResult] = {}
    with ExitStack() as stack:
        for spec in asked:
            broken = [used for used in spec.uses if used in parts and parts[used].loses()]
            part = stack.enter_context(_component(judge, spec, files, exempt, read, diagnose))
            part.settle(broken, time)
            parts[spec.name] = part
        for spec in asked:
            broken = losing_points(results, spec.uses)
            results[spec.name] = parts[spec.name].finish(broken, time)
    return results


def grade_component(
    judge: Judge,
    spec: ComponentSpec,
    files: Mapping[str, bytes],
    exempt: Sequence[str],
    broken: Sequence[str],
    watcher: Watcher | None = None,
    accepted: Mapping[str, str] | None = None,
) -> ComponentResult:
    """Grade one component of a submission by itself.

    Args:
        judge: what to grade it with.
        spec: the component.
        files: the submission's files by name.
        exempt: files that may call what is forbidden.
        broken: the components that it may use and that lost points.
        watcher: sees how it is done.
        accepted: by component, the digest of what a person has accepted.

    Raises:
        SandboxFault, ReferenceFault: a fault of the grader; nothing was marked.
    """
    read = review(judge.assignment, judge.sandbox, files, exempt, accepted)
    time = SubmissionTime(2 * spec.limits.component_wall_s, 2)
    with _component(judge, spec, files, exempt, read, True, watcher) as part:
        part.settle(broken, time)
        return part.finish(broken, time)


def _component(
    judge: Judge,
    spec: ComponentSpec,
    files: Mapping[str, bytes],
    exempt: Sequence[str],
    read: Review,
    thorough: bool,
    watcher: Watcher | None = None,
) -> _Component:
    """Return a component with the files that may be run: none that is held, but stand-ins for it.

    A component that another one builds on and that is held counts as one that is not there: its
    stand-in alone takes its place.
    """
    runs = read.runs(spec.name, files)
    uses = {other.name: other.uses for other in judge.assignment.components}
    replaced = sorted(used_by(spec.name, uses) & read.withheld)
    if replaced:
        runs = with_stand_ins(judge.assignment, runs, replaced)
        exempt = (*exempt, *(f"{used}.py" for used in replaced))
    return _Component(
        judge,
        spec,
        runs,
        exempt,
        thorough,
        watcher,
        named=read.named,
        found=read.found.get(spec.name, []),
        held=spec.name in read.withheld,
        free=read.is_free(spec.name) or f"{spec.name}.py" in exempt,
        replaced=reached(replaced, runs, read.named, exempt),
    )


@dataclass
class _Component:
    """One component of a submission, from its first question to its result.

    Attributes:
        exempt: files that may call what is forbidden.
        thorough: look for misconceptions and show the work, beside giving marks.
        watcher: sees the runs that it is graded from.
        named: for each file of the submission the components that it names.
        found: what is out of the ordinary in it.
        held: whether that waits for a person.
        free: whether it runs with all of Python.
        replaced: the held components that a stand-in has taken the place of.
    """

    judge: Judge
    spec: ComponentSpec
    files: Mapping[str, bytes]
    exempt: Sequence[str]
    thorough: bool
    watcher: Watcher | None
    named: Mapping[str, Collection[str]]
    found: list[Held]
    held: bool
    free: bool
    replaced: list[str]
    # By their stand-ins: its own without any, then for what was broken in each of the phases.
    _runs: dict[tuple[str, ...], ComponentRun] = field(default_factory=dict)
    _diagnosis: Diagnosis = field(default_factory=Diagnosis)
    _views: list[dict[str, Any]] = field(default_factory=list)
    _spent: float = 0.0
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def criteria(self) -> list[Criterion]:
        """All of the component, in order."""
        return self.judge.suite.criteria[self.spec.name]

    def __enter__(self) -> _Component:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def settle(self, broken: Sequence[str], time: SubmissionTime) -> None:
        """Settle all that may be shown: public criteria, the misconceptions, and what is drawn.

        Args:
            broken: the components that it may use and that lost public criteria.
            time: of the submission.
        """
        if self._unrun() is not None:
            return
        broken = [used for used in broken if used not in self.replaced]
        turn = time.next(self.spec.limits.component_wall_s)
        reached_ones = reached(broken, self.files, self.named, self.exempt)
        own = self._run([], turn)
        self._ask(own, "public", turn, reached_ones)
        if not reached_ones:
            # What components share in a file of its own may be wrong for each of them.
            own_modules = {file for file in self.files if file.endswith(".py")}
            shared = broken and not own_modules <= files_of(self.judge.assignment.totals)
            self._diagnosis = Diagnosis() if shared else own.diagnose()
        elif self._is_followed(own):
            followed = self._run(reached_ones, turn)
            for criterion in self._of("public"):
                followed.verdict(criterion)
            self._go_on(own, "public", turn)
            # Only with working parts in place does its own mistake show clearly.
            self._diagnosis = followed.diagnose() if followed.forbidden is None else Diagnosis()
        self._views = own.views()
        self._spent = turn.spent()
        for run in self._runs.values():
            run.rest()

    def finish(self, broken: Sequence[str], time: SubmissionTime) -> ComponentResult:
        """Ask the hidden questions and return what the component came to.

        Args:
            broken: the components that it may use and that lost points.
            time: of the submission.
        """
        unrun = self._unrun()
        if unrun is not None:
            return unrun
        own = self._runs[()]
        broken = [used for used in broken if used not in self.replaced]
        turn = time.next(self.spec.limits.component_wall_s, self._spent)
        reached_ones = reached(broken, self.files, self.named, self.exempt)
        for run in self._runs.values():
            run.keep_silent(turn)
        self._ask(own, "hidden", turn, reached_ones)
        if reached_ones and self._is_followed(own):
            known = tuple(reached_ones) in self._runs
            followed = self._run(reached_ones, turn)
            followed.keep_silent(turn)
            for criterion in self._of("hidden") if known else self.criteria:
                # What the stand-ins do not mend may still be right without them.
                if self._share(criterion) < 1:
                    followed.verdict(criterion)
            self._go_on(own, "hidden", turn)
        result = self._result()
        self._stack.close()
        result.views = self._views
        result.usage = own.used
        result.review = self.found
        if self.replaced and result.status == "graded":
            result.stand_ins = sorted({*result.stand_ins, *self.replaced})
            result.notes.insert(0, f"{_with_working(self.replaced)}: the own is {HELD_WORDS}")
            result.message = "\n".join([*result.notes, *result.causes])
        return result

    def loses(self) -> bool:
        """Tell whether a public criterion is lost."""
        return not self._runs or any(self._share(c) < 1 for c in self._of("public"))

    def _unrun(self) -> ComponentResult | None:
        """Return the result of what is not run at all."""
        name = self.spec.name
        if self.held:
            result = _unrun(self.criteria, "forbidden", held_words(self.found))
            result.review = self.found
            return result
        source = self.files.get(f"{name}.py")
        if source is None:
            return _unrun(self.criteria, "missing", f"there is no {name}.py")
        stub = self.judge.assignment.public / f"{name}.py"
        if stub.is_file() and source.split() == stub.read_bytes().split():
            return _unrun(self.criteria, "not_attempted", f"{name}.py is still the empty stub")
        return None

    def _run(self, broken: Sequence[str], turn: ComponentTime) -> ComponentRun:
        """Return the run with stand-ins for what is broken; it is begun if there is none yet."""
        if tuple(broken) in self._runs:
            return self._runs[tuple(broken)]
        watcher = self.watcher
        observer = None if watcher is None else watcher.observer(broken)
        files = with_stand_ins(self.judge.assignment, self.files, broken)
        exempt = (*self.exempt, *(f"{used}.py" for used in broken))
        run = self._stack.enter_context(
            ComponentRun(
                *(self.judge, self.spec.name, files, exempt, observer, self.thorough, turn),
                free=self.free,
            )
        )
        self._runs[tuple(broken)] = run
        return run

    def _ask(
        self, own: ComponentRun, which: str, turn: ComponentTime, broken: Sequence[str]
    ) -> None:
        """Run criteria; half of the time is left for a run with stand-ins, if there can be one."""
        own.extend(turn.half if broken else turn.end)
        for criterion in self._of(which):
            own.verdict(criterion)

    def _go_on(self, own: ComponentRun, which: str, turn: ComponentTime) -> None:
        """Run what the first half of the time was too short for, and stand-ins did not mend."""
        own.extend(turn.end)
        for criterion in self._of(which):
            if self._share(criterion) < 1:
                own.try_again(criterion)

    def _of(self, which: str) -> list[Criterion]:
        return [criterion for criterion in self.criteria if criterion.visibility == which]

    def _share(self, criterion: Criterion) -> float:
        """Return the best share of a criterion's points that some run earned; none if forbidden."""
        runs = [run for run in self._runs.values() if run.forbidden is None]
        return max((run.share(criterion) for run in runs), default=0.0)

    @staticmethod
    def _is_followed(own: ComponentRun) -> bool:
        """Tell whether stand-ins could earn more.

        Without a line, a forbidden use may be what a broken component did that it uses.
        """
        lost = any(not v.passed and not v.not_attempted for v in own.found())
        return lost and (own.forbidden is None or not own.forbidden.file)

    def _result(self) -> ComponentResult:
        """Count for every criterion the best of the own run and those with stand-ins."""
        (_, own), *followed = self._runs.items()
        if not followed:
            return _result(own, self._diagnosis)
        stand_ins, last = followed[-1]
        forbidden = [run for _, run in followed if run.forbidden is not None]
        if forbidden:
            self._counts([c.id for c in self.criteria], stand_ins)
            return _result(forbidden[-1], Diagnosis())
        gained = [c for c in self.criteria if self._share(c) > own.share(c)]
        status, reason = last.status()
        if not gained and not self._diagnosis.found and own.forbidden is None:
            # A stub that another one stops shows only with that one's stand-in that it is a stub.
            if status == "not_attempted" and not any(map(self._share, self.criteria)):
                return _unrun(self.criteria, status, reason)
            return _result(own, Diagnosis())
        verdicts = [self._best(c, c in gained) for c in self.criteria]
        if status == "not_attempted":
            status, reason = "graded", ""
        marked = _marked(last, verdicts, self._diagnosis)
        return _assembled(marked, status, reason, self._diagnosis, stand_ins)

    def _best(self, criterion: Criterion, gained: bool) -> Verdict:
        """Return the verdict that counts for a criterion, where some are gained with stand-ins."""
        (_, own), *followed = self._runs.items()
        lost = self._share(criterion) < 1
        if not gained and not (lost and self._diagnosis.found) and own.forbidden is None:
            return own.verdict(criterion)
        # Of two the later one is for hidden questions, which the other was never asked.
        stand_ins, run = max(followed, key=lambda p: (p[1].share(criterion), p[1].ran(criterion)))
        there = run.verdict(criterion)
        self._counts([criterion.id], stand_ins)
        if not lost:
            return replace(there, facts=[_with_working(stand_ins)], hints=[])
        if there.silent and criterion.visibility == "public":
            # It was lost because of hidden mistakes elsewhere: there are no words of its own.
            return replace(there, facts=[_with_working(stand_ins), *there.facts[:-1]])
        return there

    def _counts(self, criteria: Sequence[str], stand_ins: Sequence[str]) -> None:
        if self.watcher is not None:
            self.watcher.counts(criteria, stand_ins)


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
        marked = _marked(run, run.found(), diagnosis)
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
        unsteady=verdict.unsteady,
        source=criterion.source,
        facts=[line for fact in verdict.facts for line in fact.splitlines()],
        hints=list(verdict.hints),
        causes=causes,
        message="\n".join(lines),
    )
