"""Run one criterion again and say, to the instructor, all that is known about it.

Nothing here is for a student: hidden checks are shown with values and right answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.checks import ComponentRun, Judge, Verdict
from autograder.exchange.messages import Reply, Request
from autograder.follow_through import with_stand_ins

# Graded here as there, so that a rerun cannot agree by being another procedure.
from autograder.judge import grade_component
from autograder.parting import partings, written_answer, written_call
from autograder.submission import Rejected, digest, take_in
from autograder.suite.known import same
from autograder.suite.plan import Planned, request_digest
from autograder.suite.plugin import Criterion
from autograder.suite.wording import explain


def rerun_criterion(judge: Judge, job: Mapping[str, Any]) -> dict[str, Any]:
    """Grade the component of one criterion again and explain that criterion.

    Args:
        judge: what it is graded with.
        job: `explain`, the criterion; `path`, the submission; `broken`, the components that
            lost points and are used by the one that is graded.

    Returns:
        What was found, or `unreadable` (why the submission cannot be taken in), or `unknown` (the
        criterion is not in the suite).
    """
    named = {c.id: c for criteria in judge.suite.criteria.values() for c in criteria}
    criterion = named.get(job["explain"])
    if criterion is None:
        return {"unknown": True}
    try:
        files = take_in(Path(job["path"]))
    except Rejected as rejection:
        return {"unreadable": str(rejection)}
    spec = next(s for s in judge.assignment.components if s.name == criterion.component)
    broken: list[str] = [used for used in spec.uses if used in job["broken"]]
    component = grade_component(judge, spec, files, (), broken)
    now = next(found for found in component.criteria if found.id == criterion.id)
    answer = {
        "submission_hash": digest(files),
        "seed": judge.assignment.seed,
        "now": now.model_dump(),
        "status": component.status,
        "component_message": component.message,
        "over": [c.id for c in component.criteria if c.outcome in ("timeout", "crashed")],
    }
    if component.status in ("missing", "not_attempted", "import_error"):
        return answer
    tries: list[tuple[Mapping[str, bytes], list[str]]] = [(files, [])]
    if broken:
        tries.append((with_stand_ins(judge.assignment, files, broken), broken))
    traces = []
    for working, stand_ins in tries:
        trace = _traced(judge, criterion, working, stand_ins)
        traces.append(trace)
        verdict = trace.verdict
        if verdict.outcome == now.outcome and now.message.startswith(verdict.message):
            return {**answer, **trace.words()}
    return {**answer, **traces[0].words()}


class _TracedRun(ComponentRun):
    """Keeps, for one criterion, what its test raised and how far it asked."""

    def trace(self, criterion: Criterion, stand_ins: Sequence[str]) -> _Trace:
        """Run the criterion after those before it, as grading does."""
        self._asked: dict[str, int] = {}
        self._full: dict[str, tuple[str, dict[str, Any]]] = {}
        for earlier in self.criteria[: self.criteria.index(criterion)]:
            self.verdict(earlier)
        verdict = self.verdict(criterion)
        full, drawn = self._full.get(criterion.id, ("", {}))
        plan = self._suite.plans[criterion.id]
        asked = self._asked.get(criterion.id, 0)
        return _Trace(verdict, list(stand_ins), full, drawn, asked, plan)

    def _ask(self, criterion: Criterion) -> BaseException | None:
        plan = self._suite.plans[criterion.id]
        self._session.begin(plan)
        try:
            return self._suite.run(criterion, self._session)
        finally:
            # A second run, of a criterion that failed, is not the one to explain.
            self._asked.setdefault(criterion.id, len(self._session.heard))
            self._session.end()

    def _lost(self, criterion: Criterion, failure: BaseException) -> Verdict:
        words = explain(failure, self._suite.question, reveal=True).message
        self._full[criterion.id] = words, dict(self._suite.drawn)
        verdict = super()._lost(criterion, failure)
        if verdict.outcome not in ("failed", "student_error"):
            self._full[criterion.id] = verdict.message, dict(self._suite.drawn)
        return verdict


def _traced(
    judge: Judge, criterion: Criterion, files: Mapping[str, bytes], stand_ins: Sequence[str]
) -> _Trace:
    exempt = [f"{used}.py" for used in stand_ins]
    run = _TracedRun(judge, criterion.component, files, exempt)
    with run:
        return run.trace(criterion, stand_ins)


@dataclass
class _Trace:
    """One run of one criterion: `asked` requests were read before its test ended."""

    verdict: Verdict
    stand_ins: list[str]
    full: str
    drawn: dict[str, Any]
    asked: int
    plan: Sequence[Planned]

    def words(self) -> dict[str, Any]:
        """Say what was asked, what was answered and what is right."""
        said: dict[str, Any] = {
            "alone": self.verdict.outcome,
            "stand_ins": self.stand_ins,
            "full": self.full.splitlines(),
            "drawn": [f"{name} = {value!r}" for name, value in self.drawn.items()],
        }
        gone = self.verdict.outcome in ("timeout", "crashed")
        heard = self.verdict.heard[: self.asked]
        requests = [request for request, _ in heard]
        if gone and self.asked < len(self.plan):
            requests.append(self.plan[self.asked].request)
        if not requests:
            return said
        rights = [self._right(index, request) for index, request in enumerate(requests)]
        start = max((i for i, r in enumerate(requests) if _resets(r)), default=0)
        at = len(heard) if gone and len(requests) > len(heard) else self._telling(rights, start)
        right = rights[at]
        start = max((i for i in range(at + 1) if _resets(requests[i])), default=0)
        said |= {
            "number": at + 1,
            "of": len(self.plan),
            "call": written_call(requests[start : at + 1]),
        }
        said["seeded"] = any("seed" in op for op in requests[at].ops)
        said["right"] = written_answer(right) if right is not None else []
        said["unlike"] = sum(
            right is not None and not _alike(request, reply, right)
            for (request, reply), right in zip(heard, rights, strict=False)
        )
        if at >= len(heard):
            return said
        reply = heard[at][1]
        said["answer"] = written_answer(reply)
        said["parting"] = partings(reply, right) if right is not None else []
        return said

    def _right(self, index: int, request: Request) -> Reply | None:
        """Return the solution's reply, if it was asked the same."""
        planned = self.plan[index] if index < len(self.plan) else None
        if planned is None or planned.digest != request_digest(request):
            return None
        return planned.reply

    def _telling(self, rights: Sequence[Reply | None], start: int) -> int:
        """Return the first call of the last example whose answer is not the solution's."""
        heard = self.verdict.heard
        if self.verdict.passed:
            return 0
        # Where values hang on random draws, other draws alone do not tell.
        for by_chance in (True, False):
            for index in range(start, self.asked):
                request, reply = heard[index]
                right = rights[index]
                drawn = by_chance and any("seed" in op for op in request.ops)
                if right is not None and not _alike(request, reply, right, drawn):
                    return index
        return self.asked - 1


def _resets(request: Request) -> bool:
    return bool(request.ops) and request.ops[0]["op"] == "reset"


def _alike(request: Request, reply: Reply, right: Reply, drawn: bool = False) -> bool:
    return same([reply], [right], [request], drawn)
