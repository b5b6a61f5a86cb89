"""Why right work loses points in a selftest: its criteria run again, with calls and answers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.authoring.rows import Row
from autograder.grading.messages import Explained, ExplainJob
from autograder.grading.workers import Worker, WorkerLost
from autograder.reports.disputes import print_call, print_component
from autograder.reports.terminal import Printer
from autograder.results import ComponentResult, SubmissionResult, losing_points

# Who breaks a suite breaks it for many rows at once: the first tell what is wrong.
_ROWS = 5
_CRITERIA = 3


class Loss(BaseModel):
    """A criterion that right work loses, run again."""

    row: str
    explained: Explained


def losses(
    assignment: Assignment,
    rows: Sequence[Row],
    found: Sequence[SubmissionResult],
    places: Sequence[Path],
    sandbox: str,
) -> list[Loss]:
    """Run again what right work lost: some criteria of some rows.

    Args:
        assignment: the assignment.
        rows: those of the selftest.
        found: what became of them.
        places: where their files are.
        sandbox: how the code is isolated.
    """
    jobs = [
        (row.id, job)
        for row, result, place in zip(rows, found, places, strict=True)
        if row.kind in ("solution", "stand-in", "right") and result.status == "graded"
        for job in _jobs(assignment, row, result.components, place)
    ]
    named = list(dict.fromkeys(name for name, _ in jobs))[:_ROWS]
    if not jobs:
        return []
    explained = []
    worker = Worker(assignment, sandbox)
    try:
        worker.wait()
        for name, job in jobs:
            answer = worker.ask(job) if name in named else None
            if isinstance(answer, Explained):
                explained.append(Loss(row=name, explained=answer))
    except WorkerLost:
        # What is lost stands in the report all the same.
        pass
    finally:
        worker.close()
    return explained


def _jobs(
    assignment: Assignment, row: Row, components: dict[str, ComponentResult], place: Path
) -> Iterator[ExplainJob]:
    lost = [
        (spec, criterion.id)
        for spec in assignment.components
        if spec.name in components
        for criterion in components[spec.name].criteria
        if not criterion.passed
    ]
    for spec, criterion in lost[:_CRITERIA]:
        yield ExplainJob(
            path=os.fsencode(place),
            criterion=criterion,
            suite_hash=assignment.suite_hash(),
            broken=tuple(losing_points(components, spec.uses)),
            exempt=row.exempt,
        )


def print_loss(print_: Printer, loss: Loss) -> None:
    """Print why right work loses a criterion, in the words of `check`."""
    now = loss.explained.now
    print_.line("")
    print_.line(f"{loss.row} loses {now.id}: {now.title} ({now.visibility}, {now.source})")
    for line in now.message.splitlines():
        print_.line(line, "    ")
    print_component(print_, loss.explained)
    print_call(print_, loss.explained)
