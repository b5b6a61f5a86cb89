"""Grade one submission: every component, on its own and with what it uses, from its criteria."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from typing import Any

from autograder.api.criterion import Criterion
from autograder.api.wording import lines_of
from autograder.assignment import ComponentSpec
from autograder.judge.component import ComponentRun, ComponentTime, Judge, counted
from autograder.judge.diagnosis import Diagnosis
from autograder.judge.review import HELD_WORDS, Review, held_words, review
from autograder.judge.suite import Attempt
from autograder.results import (
    ComponentResult,
    ComponentStatus,
    CriterionResult,
    Usage,
    losing_points,
    total,
)
from autograder.rules.files import is_of
from autograder.rules.forbidden import used_by
from autograder.rules.reading import imported
from autograder.sandbox.handle import ChildGone, Clock
from autograder.student.local import OWN, files_of, with_stand_ins

# The share of a submission's time that is kept for those components that are still to come.
_RESERVED = 0.5


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
    drawn, which mistake it is. Then hidden questions are asked, of new children.

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
    read = review(judge.assignment, judge.sandbox, files, exempt, accepted, judge.provided)
    given = _given_in(judge, files, exempt)
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
            said = given.get(spec.name, "")
            part = _Component(judge, spec, files, exempt, read, thorough=diagnose, given=said)
            parts[spec.name] = stack.enter_context(closing(part))
            broken = [used for used in spec.uses if used in parts and parts[used].loses()]
            part.settle(broken, time)
        for name, part in parts.items():
            results[name] = part.finish(losing_points(results, part.spec.uses), time)
    return results


def grade_component(
    judge: Judge,
    spec: ComponentSpec,
    files: Mapping[str, bytes],
    exempt: Sequence[str],
    broken: tuple[Sequence[str], Sequence[str]],
    accepted: Mapping[str, str] | None = None,
) -> tuple[ComponentResult, dict[str, Attempt]]:
    """Grade one component of a submission by itself, to explain it.

    `broken` names the components that it may use and that lost public points, and all that lost
    points.

    Returns:
        Its result, and by criterion the attempt that is marked; none where it never ran.
    """
    read = review(judge.assignment, judge.sandbox, files, exempt, accepted, judge.provided)
    said = _given_in(judge, files, exempt).get(spec.name, "")
    time = SubmissionTime(2 * spec.limits.component_wall_s, 2)
    with closing(_Component(judge, spec, files, exempt, read, True, True, said)) as part:
        publicly, in_all = broken
        part.settle(publicly, time)
        return part.finish(in_all, time), part.marked


def _given_in(judge: Judge, files: Mapping[str, bytes], exempt: Sequence[str]) -> dict[str, str]:
    """Return for each component of a submission that is given text a sentence about it."""
    own = {name: data for name, data in files.items() if name not in exempt}
    # What kills its reader is held for a person.
    with suppress(ChildGone):
        if judge.given.names:
            return judge.given.found_in(judge.sandbox.spell(own, judge.given.names))
    return {}


@dataclass
class _Component:
    """One component of a submission, from its first question to its result."""

    judge: Judge
    spec: ComponentSpec
    files: Mapping[str, bytes]  # the submission's, by name
    exempt: Sequence[str]  # files that may call what is forbidden
    read: Review
    thorough: bool  # look for misconceptions and show the work, beside giving marks
    explaining: bool = False  # keep also what was answered to hidden questions
    given: str = ""  # of one that is text which students are given, a sentence that says so

    def __post_init__(self) -> None:
        name = self.spec.name
        # None that is held; a component that this one builds on and that is held counts as one
        # that is not there: its stand-in alone takes its place.
        self.files = self.read.runs(name, self.files)
        uses = {other.name: other.uses for other in self.judge.assignment.components}
        replaced = sorted(used_by(name, uses) & self.read.withheld)
        self.files, self.exempt = self._with_stand_ins(replaced)
        self._replaced: list[str] = []
        self._replaced = self._reached(replaced)
        # For public criteria, and a second one where hidden ones are run with other stand-ins.
        self._runs: list[ComponentRun] = []
        self._diagnosis = Diagnosis()
        self._views: list[dict[str, Any]] = []
        self._spent = 0.0
        self._used = Usage()
        # By criterion, the attempt that it is marked by.
        self.marked: dict[str, Attempt] = {}

    @property
    def criteria(self) -> list[Criterion]:
        """All of the component, in order."""
        return self.judge.suite.criteria[self.spec.name]

    def close(self) -> None:
        """End its processes."""
        for run in self._runs:
            run.close()

    def settle(self, broken: Sequence[str], time: SubmissionTime) -> None:
        """Settle all that may be shown: public criteria, the misconceptions, and what is drawn.

        Args:
            broken: the components that it may use and that lost public criteria.
            time: of the submission.
        """
        if self._not_run() is not None:
            return
        turn = time.next(self.spec.limits.component_wall_s)
        stand_ins = self._reached(broken)
        run = self._begun(stand_ins, turn)
        for criterion in self.criteria:
            if criterion.visibility == "public":
                run.attempt(criterion)
        # What components share in a file of its own may be wrong for each of them.
        own_modules = {file for file in self.files if file.endswith(".py")}
        shares = not own_modules <= files_of(self.judge.assignment.totals)
        if stand_ins or not shares or set(broken) <= set(self._replaced):
            self._diagnosis = run.diagnose()
        self._views = run.views()
        self._spent = turn.spent()
        self.close()

    def finish(self, broken: Sequence[str], time: SubmissionTime) -> ComponentResult:
        """Ask the hidden questions and return what the component came to.

        Args:
            broken: the components that it may use and that lost points.
            time: of the submission.
        """
        unrun = self._not_run()
        if unrun is not None:
            return unrun
        turn = time.next(self.spec.limits.component_wall_s, self._spent)
        public = run = self._runs[0]
        stand_ins = self._reached(broken)
        if tuple(stand_ins) != public.stand_ins and public.forbidden is None:
            run = self._begun(stand_ins, turn)
        run.keep_silent(turn)
        for criterion in self.criteria:
            # What was lost by a hidden mistake of another component is not lost with a stand-in.
            if criterion.visibility == "hidden" or public.attempt(criterion).share < 1:
                run.attempt(criterion)
        self.close()
        result = self._result()
        result.views, result.unsteady = self._views, public.unsteady
        used = {name: round(value, 3) for name, value in self._used.model_dump().items()}
        result.usage = Usage(**used)
        result.review = self.read.found.get(self.spec.name, [])
        if self._replaced and result.status == "graded":
            result.stand_ins = sorted({*result.stand_ins, *self._replaced})
            result.notes.insert(0, f"{_with_working(self._replaced)}: the own is {HELD_WORDS}")
            result.message = "\n".join([*result.notes, *result.causes])
        return result

    def loses(self) -> bool:
        """Return whether a public criterion is lost."""
        return not self._runs or any(attempt.share < 1 for attempt in self._runs[0].attempts())

    def _not_run(self) -> ComponentResult | None:
        """Return the result of what is not run at all."""
        name, file = self.spec.name, self.spec.file
        if name in self.read.withheld:
            found = self.read.found[name]
            result = _unrun(self.criteria, "forbidden", held_words(found))
            result.review = found
            return result
        if file not in self.files:
            return _unrun(self.criteria, "missing", f"there is no {file}")
        if all(map(self._is_stub, (other for other in self.files if is_of(other, name)))):
            what = name if self.spec.package else file
            return _unrun(self.criteria, "not_attempted", f"{what} is still the empty stub")
        if self.given:
            return _unrun(self.criteria, "forbidden", self.given)
        return None

    def _is_stub(self, file: str) -> bool:
        """Return whether a file is as it was given."""
        stub = self.judge.stubs.get(file)
        return stub is not None and self.files[file].split() == stub.encode().split()

    def _reached(self, broken: Sequence[str]) -> list[str]:
        """Return those of the broken components that another file, or provided code, names.

        A stand-in for any other would change nothing; some have one in any case.
        """
        broken = [used for used in broken if used not in self._replaced]

        def names(file: str) -> Collection[str]:
            text = self.files[file] if file in self.exempt else given.get(file)
            if text is not None:
                return imported(ast.parse(text), broken)[1]
            named = self.read.named
            return {*named.get(file, ()), *named.get(file.removeprefix(OWN), ())}

        given = {n: text for n, text in self.judge.provided.items() if n.endswith(".py")}
        found = {file: names(file) for file in (*self.files, *given) if broken}
        return [
            name
            for name in broken
            if any(name in others for file, others in found.items() if not is_of(file, name))
        ]

    def _with_stand_ins(self, broken: Sequence[str]) -> tuple[dict[str, bytes], Sequence[str]]:
        """Return the files with stand-ins, and those that may call what is forbidden."""
        of = self.judge.assignment.stand_in
        texts = {name: of(name).read_text(encoding="utf-8") for name in broken}
        return with_stand_ins(self.files, texts), (
            *self.exempt,
            *(f"{used}.py" for used in broken),
        )

    def _begun(self, stand_ins: Sequence[str], turn: ComponentTime) -> ComponentRun:
        """Begin a run with these stand-ins."""
        files, exempt = self._with_stand_ins(stand_ins)
        own = [file for file in files if file not in exempt]
        free = tuple(file for file in own if file.removeprefix(OWN) in self.read.free)
        # What is the grader's own has all of Python, and so has what it is proved with.
        all_ = self.spec.file in self.exempt
        how = self.thorough, self.explaining, None if all_ else free, self._used
        run = ComponentRun(self.judge, self.spec, files, exempt, tuple(stand_ins), turn, *how)
        self._runs.append(run)
        return run

    def _result(self) -> ComponentResult:
        """Return what the component came to, in both phases."""
        attempts = [self._marked_by(criterion) for criterion in self.criteria]
        self.marked = {attempt.criterion.id: attempt for attempt in attempts}
        last = self._runs[-1]
        status, reason = last.status()
        if status == "not_attempted" and any(attempt.share for attempt in attempts):
            status, reason = "graded", ""
        if status in ("import_error", "not_attempted"):
            return _unrun(self.criteria, status, reason)
        if status == "forbidden":
            failed = [Attempt(c, outcome="failed", facts=[reason]) for c in self.criteria]
            return _assembled(failed, status, reason, self._diagnosis)
        return _assembled(counted(attempts), status, reason, self._diagnosis, last.stand_ins)

    def _marked_by(self, criterion: Criterion) -> Attempt:
        """Return the attempt that a criterion is marked by: the better of those that there were."""
        tried = [run.tried[criterion.id] for run in self._runs if criterion.id in run.tried]
        best = max(tried, key=lambda attempt: attempt.share, default=Attempt(criterion))
        note = _with_working(best.stand_ins) if best.stand_ins else ""
        if note and best.share == 1:
            return replace(best, facts=[note], hints=[])
        if best.silent and criterion.visibility == "public":
            # It was lost because of hidden mistakes elsewhere: there are no words of its own.
            return replace(best, facts=[note, *best.facts[:-1]])
        return best


def _with_working(stand_ins: Sequence[str]) -> str:
    return f"graded with a working {', '.join(stand_ins)}"


def _unrun(criteria: list[Criterion], status: ComponentStatus, reason: str) -> ComponentResult:
    attempts = [Attempt(criterion, facts=[reason]) for criterion in criteria]
    return _assembled(attempts, status, reason, Diagnosis())


def _assembled(
    attempts: Sequence[Attempt],
    status: ComponentStatus,
    reason: str,
    diagnosis: Diagnosis,
    stand_ins: Sequence[str] = (),
) -> ComponentResult:
    marked = [_mark(attempt, diagnosis) for attempt in attempts]
    note = _with_working(stand_ins) if stand_ins else ""
    return ComponentResult(
        score=total(criterion.score for criterion in marked),
        max_score=total(criterion.max_score for criterion in marked),
        status=status,
        criteria=marked,
        misconceptions=[misconception.id for misconception in diagnosis.found],
        either=diagnosis.either,
        stand_ins=list(stand_ins),
        notes=[line for line in (note, reason) if line],
        causes=[diagnosis.words] if diagnosis.found else [],
        message="\n".join(filter(None, (note, reason, diagnosis.words))),
    )


def _mark(attempt: Attempt, diagnosis: Diagnosis) -> CriterionResult:
    criterion = attempt.criterion
    causes = diagnosis.words_at(criterion.id)
    lines = lines_of(attempt.facts, attempt.hints) + [f"likely cause: {words}" for words in causes]
    return CriterionResult(
        id=criterion.id,
        title=criterion.title,
        score=round(criterion.points * attempt.share, 4),
        max_score=criterion.points,
        passed=None if attempt.outcome == "not_run" else attempt.outcome == "passed",
        cases=attempt.cases,
        passed_cases=attempt.passed,
        outcome=attempt.outcome,
        visibility="hidden" if criterion.visibility == "hidden" else "public",
        form=criterion.form,
        unsteady=attempt.unsteady,
        source=criterion.source,
        facts=[line for fact in attempt.facts for line in fact.splitlines()],
        hints=attempt.hints,
        causes=causes,
        message="\n".join(lines),
    )


class SubmissionTime:
    """Deals a submission's time out to its components, one after the other.

    Those before cannot use up what is kept for those after them, each the same.

    Args:
        limit_s: for all components.
        turns: how many there are: each component has one in each phase.
        clock: counts what the submission's children take.
    """

    def __init__(self, limit_s: float, turns: int, clock: Clock | None = None) -> None:
        self._limit_s = limit_s
        self._clock = clock or Clock()
        self._left = turns
        self._kept = _RESERVED * limit_s / max(1, turns)
        self._end = self._clock.now + limit_s

    def next(self, limit_s: float, spent: float = 0.0) -> ComponentTime:
        """Return the time of the next turn, of a component with this limit that spent some."""
        self._left -= 1
        now = self._clock.now
        own = now + max(0.0, limit_s - spent)
        end = self._end - self._left * self._kept
        if own <= end:
            return ComponentTime(self._clock, now, own, f"its time ({limit_s:g} s) is over")
        words = f"the time of the whole submission ({self._limit_s:g} s) is used up"
        return ComponentTime(self._clock, now, max(now, end), words)
