"""Explain one criterion to the instructor: grade its component once more, seeing how that is done.

Nothing here is for a student: hidden checks are shown with values and right answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.api.likeness import all_alike
from autograder.api.messages import Reply, Request
from autograder.api.operations import Call
from autograder.api.wording import find
from autograder.grading.messages import (
    ExplainAnswer,
    Explained,
    ExplainJob,
    TracedCall,
    UnknownCriterion,
    Unreadable,
)
from autograder.judge.begin import made_from, taken_for
from autograder.judge.component import Judge
from autograder.judge.difference import differences, written_answer, written_call
from autograder.judge.intake import Rejected
from autograder.judge.plan import Planned
from autograder.judge.session import NotRun
from autograder.judge.submission import grade_component
from autograder.judge.suite import Attempt
from autograder.sandbox.handle import ChildGone


def explain_criterion(judge: Judge, job: ExplainJob) -> ExplainAnswer:
    """Grade the component of one criterion again and explain that criterion."""
    named = {c.id: c for criteria in judge.suite.criteria.values() for c in criteria}
    criterion = named.get(job.criterion)
    if criterion is None:
        return UnknownCriterion()
    try:
        found = taken_for(judge.assignment, job)
    except Rejected as rejection:
        return Unreadable(reason=str(rejection))
    spec = next(s for s in judge.assignment.components if s.name == criterion.component)
    broken = [used for used in spec.uses if used in job.broken]
    # Graded here as there, so that an explanation cannot agree by being another procedure.
    component, marked = grade_component(judge, spec, found.files, job.exempt, broken, job.accepted)
    answer = Explained(
        graded=made_from(judge.assignment, found, job),
        now=next(found for found in component.criteria if found.id == criterion.id),
        status=component.status,
        component_message=component.message,
        over=[c.id for c in component.criteria if c.outcome in ("timeout", "crashed")],
    )
    attempt = marked.get(criterion.id, Attempt(criterion))
    never_ran = attempt.outcome == "not_run" and attempt.failure is None
    if never_ran or component.status in ("missing", "not_attempted", "import_error"):
        return answer
    return answer.model_copy(
        update={
            "stand_ins": list(attempt.stand_ins),
            "full": _full(attempt),
            "drawn": [f"{name} = {value!r}" for name, value in attempt.drawn.items()],
            "traced": traced(attempt, judge.suite.plans[criterion.id]),
        }
    )


def _full(attempt: Attempt) -> list[str]:
    """Return all that the check found, as a public check would say it."""
    match attempt.failure:
        case None | NotRun():
            return []
        case ChildGone() as gone:
            return [*attempt.of_cases(), gone.words]
        case failure:
            return find(failure, attempt.question).message.splitlines()


def traced(attempt: Attempt, plan: Sequence[Planned]) -> TracedCall | None:
    """Choose the call that tells most, and write it out with both answers."""
    gone = attempt.outcome in ("timeout", "crashed")
    heard, asked = attempt.heard[: attempt.asked], attempt.asked
    requests = [request for request, _ in heard]
    if gone and asked < len(plan):
        requests.append(plan[asked].request)
    if not requests:
        return None
    rights = [_right(plan, index, request) for index, request in enumerate(requests)]
    start = _example_at(requests, len(requests) - 1)
    at = len(heard) if gone and len(requests) > len(heard) else _telling(attempt, rights, start)
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


def _telling(attempt: Attempt, rights: Sequence[Reply | None], start: int) -> int:
    """Return the first call of the last example whose answer is not the solution's."""
    if attempt.outcome == "passed":
        return 0
    # Where values hang on random draws, other draws alone do not tell.
    for by_chance in (True, False):
        for index in range(start, len(rights)):
            request, reply = attempt.heard[index]
            right = rights[index]
            drawn = by_chance and _seeded(request)
            if right is not None and not _alike(request, reply, right, drawn):
                return index
    return len(rights) - 1


def _seeded(request: Request) -> bool:
    return any(isinstance(op, Call) and op.seed is not None for op in request.ops)


def _alike(request: Request, reply: Reply, right: Reply, drawn: bool = False) -> bool:
    return all_alike([reply], [right], [request], drawn)
