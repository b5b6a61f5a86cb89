"""Explain one criterion to the instructor: grade its component once more, seeing how that is done.

Nothing here is for a student: hidden checks are shown with values and right answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import Call
from autograder.grading.messages import (
    ExplainAnswer,
    Explained,
    ExplainJob,
    TracedCall,
    UnknownCriterion,
    Unreadable,
)
from autograder.judge.check import Attempt
from autograder.judge.difference import differences, written_answer, written_call
from autograder.judge.intake import Rejected
from autograder.judge.judge import Judge
from autograder.judge.limited import take_in_limited
from autograder.judge.submission import grade_component
from autograder.judge.verdict import Verdict
from autograder.results import Graded
from autograder.solutions.plan import Planned
from autograder.suite.criterion import Criterion
from autograder.suite.likeness import all_alike
from autograder.suite.wording import find


def explain_criterion(
    judge: Judge, job: ExplainJob, graded: Callable[[Mapping[str, bytes]], Graded]
) -> ExplainAnswer:
    """Grade the component of one criterion again and explain that criterion.

    Args:
        judge: what it is graded with.
        job: what to explain.
        graded: records what a submission's files are graded with.
    """
    named = {c.id: c for criteria in judge.suite.criteria.values() for c in criteria}
    criterion = named.get(job.criterion)
    if criterion is None:
        return UnknownCriterion()
    try:
        files = take_in_limited(job.place)
    except Rejected as rejection:
        return Unreadable(reason=str(rejection))
    spec = next(s for s in judge.assignment.components if s.name == criterion.component)
    broken = [used for used in spec.uses if used in job.broken]
    trace = Trace(criterion)
    # Graded here as there, so that an explanation cannot agree by being another procedure.
    component = grade_component(judge, spec, files, job.exempt, broken, trace, job.accepted)
    answer = Explained(
        graded=graded(files),
        now=next(found for found in component.criteria if found.id == criterion.id),
        status=component.status,
        component_message=component.message,
        over=[c.id for c in component.criteria if c.outcome in ("timeout", "crashed")],
    )
    seen = trace.seen
    if seen is None or component.status in ("missing", "not_attempted", "import_error"):
        return answer
    return answer.model_copy(
        update={
            "stand_ins": list(seen.stand_ins),
            "full": seen.full(),
            "drawn": [f"{name} = {value!r}" for name, value in seen.attempt.drawn.items()],
            "traced": traced(seen.verdict, seen.asked, judge.suite.plans[criterion.id]),
        }
    )


@dataclass
class _Seen:
    """One run of the criterion: `asked` requests were answered before its test ended."""

    stand_ins: Sequence[str]
    attempt: Attempt
    verdict: Verdict
    asked: int

    def full(self) -> list[str]:
        """Return all that the check found, as a public check would say it."""
        failure = self.attempt.failure
        if failure is None:
            return []
        if self.verdict.outcome not in ("failed", "student_error"):
            return list(self.verdict.found or self.verdict.facts)
        return find(failure, self.attempt.question).message.splitlines()


@dataclass
class Trace:
    """Sees the runs that a component is graded from, for one criterion of it."""

    criterion: Criterion
    _runs: dict[tuple[str, ...], _Seen] = field(default_factory=dict)
    _counting: tuple[str, ...] = ()

    def observer(self, stand_ins: Sequence[str]) -> _RunObserver:
        """Return what sees the criteria of a run with these stand-ins."""
        return _RunObserver(self, stand_ins)

    def counts(self, criteria: Sequence[str], stand_ins: Sequence[str]) -> None:
        """Note the run that criteria are marked by."""
        if self.criterion.id in criteria:
            self._counting = tuple(stand_ins)

    def note(self, seen: _Seen) -> None:
        """Keep one run of the criterion."""
        self._runs[tuple(seen.stand_ins)] = seen

    @property
    def seen(self) -> _Seen | None:
        """The run that the criterion is marked by; None if it never ran."""
        return self._runs.get(self._counting)


@dataclass
class _RunObserver:
    trace: Trace
    stand_ins: Sequence[str]

    def ran(self, criterion: Criterion, attempt: Attempt, verdict: Verdict, asked: int) -> None:
        if criterion.id == self.trace.criterion.id:
            self.trace.note(_Seen(self.stand_ins, attempt, verdict, asked))


def traced(verdict: Verdict, asked: int, plan: Sequence[Planned]) -> TracedCall | None:
    """Choose the call that tells most, and write it out with both answers."""
    gone = verdict.outcome in ("timeout", "crashed")
    heard = verdict.heard[:asked]
    requests = [request for request, _ in heard]
    if gone and asked < len(plan):
        requests.append(plan[asked].request)
    if not requests:
        return None
    rights = [_right(plan, index, request) for index, request in enumerate(requests)]
    start = _example_at(requests, len(requests) - 1)
    at = len(heard) if gone and len(requests) > len(heard) else _telling(verdict, rights, start)
    right = rights[at]
    call = TracedCall(
        number=at + 1,
        of=len(plan),
        call=written_call(requests[_example_at(requests, at) : at + 1]),
        right=None if right is None else written_answer(right),
        seeded=_seeded(requests[at]),
        unlike=sum(
            right is not None and not _alike(request, reply, right)
            for (request, reply), right in zip(heard, rights, strict=False)
        ),
    )
    if at >= len(heard):
        return call
    reply = heard[at][1]
    found: dict[str, Any] = {"answer": written_answer(reply)}
    if right is not None:
        found["differences"] = differences(reply, right)
    return call.model_copy(update=found)


def _example_at(requests: Sequence[Request], at: int) -> int:
    """Return where the example begins that a request belongs to."""
    return max((i for i in range(at + 1) if requests[i].resets), default=0)


def _right(plan: Sequence[Planned], index: int, request: Request) -> Reply | None:
    """Return the solution's reply, if it was asked the same."""
    planned = plan[index] if index < len(plan) else None
    if planned is None or not request.same_as(planned.request):
        return None
    return planned.reply


def _telling(verdict: Verdict, rights: Sequence[Reply | None], start: int) -> int:
    """Return the first call of the last example whose answer is not the solution's."""
    if verdict.passed:
        return 0
    # Where values hang on random draws, other draws alone do not tell.
    for by_chance in (True, False):
        for index in range(start, len(rights)):
            request, reply = verdict.heard[index]
            right = rights[index]
            drawn = by_chance and _seeded(request)
            if right is not None and not _alike(request, reply, right, drawn):
                return index
    return len(rights) - 1


def _seeded(request: Request) -> bool:
    return any(isinstance(op, Call) and op.seed is not None for op in request.ops)


def _alike(request: Request, reply: Reply, right: Reply, drawn: bool = False) -> bool:
    return all_alike([reply], [right], [request], drawn)
