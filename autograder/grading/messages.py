"""What a process that grades many submissions and a worker send each other: jobs and answers.

One JSON object a line, in both directions; `kind` says which. Nothing in them is a student's but
what a result holds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from autograder.results import ComponentStatus, CriterionResult, Graded, SubmissionResult


class _Message(BaseModel):
    # A path is bytes: it need be no UTF-8.
    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")


class _AboutSubmission(_Message):
    """What is asked about a submission.

    Attributes:
        path: where it is.
        suite_hash: of the suite as it is now.
        exempt: files that may call what is forbidden, as stand-ins do.
        accepted: by component, the digest of what a person has accepted.
        remarks: what was said when it was taken in on another machine; None if it is here.
    """

    path: bytes
    suite_hash: str
    exempt: tuple[str, ...] = ()
    accepted: dict[str, str] = {}
    remarks: dict[str, list[str]] | None = None

    @property
    def place(self) -> Path:
        """Where the submission is."""
        return Path(os.fsdecode(self.path))


class GradeJob(_AboutSubmission):
    """Grade a submission.

    Attributes:
        id: the submission's.
        known: what an earlier result was made from; if it is the same, nothing is graded.
        only: the components to grade; empty for all.
        diagnose: look for misconceptions, and show the student's work. Without it there are bare
            marks, and the first hang or crash ends a component.
        stubs: by file, those that take the place of the ones in `assignments/`.
    """

    kind: Literal["grade"] = "grade"
    id: str
    known: Graded | None = None
    only: tuple[str, ...] = ()
    diagnose: bool = True
    stubs: dict[str, str] = {}


class ExplainJob(_AboutSubmission):
    """Grade the component of one criterion again, and explain that criterion.

    Attributes:
        criterion: its id.
        broken: the components that the one it belongs to may use, and that lost points.
        broken_publicly: those of them that lost points of public criteria.
    """

    kind: Literal["explain"] = "explain"
    criterion: str
    broken: tuple[str, ...] = ()
    broken_publicly: tuple[str, ...] = ()


class Stage(_Message):
    """What the worker does while it starts, or what it makes for all jobs, in words."""

    kind: Literal["stage"] = "stage"
    words: str


class Ready(_Message):
    """The worker has started.

    Attributes:
        sandbox: how student code is isolated.
        losses: what the solutions lose, by criterion, with what is said of it; only a worker
            that checks an assignment starts where they lose anything.
        faults: what else is wrong with the suites, likewise.
        notes: what an author should know of the suites.
    """

    kind: Literal["ready"] = "ready"
    sandbox: str
    losses: dict[str, str] = {}
    notes: list[str] = []
    faults: list[str] = []


class Refused(_Message):
    """The worker cannot start: student code cannot be isolated, or the `suite` is broken."""

    kind: Literal["refused"] = "refused"
    reason: str
    suite: bool = False


class Marked(_Message):
    """A submission was graded, or could not be taken in."""

    kind: Literal["marked"] = "marked"
    result: SubmissionResult


class Unchanged(_Message):
    """A submission is what it was when it was graded last."""

    kind: Literal["unchanged"] = "unchanged"


class Fault(_Message):
    """The grader failed; that is nobody's zero."""

    kind: Literal["fault"] = "fault"
    reason: str


class TracedCall(_Message):
    """The call of a criterion that tells most, written out for the instructor.

    Attributes:
        number: which of the criterion's calls it is, from 1.
        of: how many there are.
        call: what was asked.
        answer: what came back; None if it hung or died.
        right: the solution's answer; None where it was not asked the same.
        differences: where the two differ.
        seeded: whether it draws at random.
        unlike: how many answers that the check read differ from the solution's.
    """

    number: int
    of: int
    call: list[str]
    answer: list[str] | None = None
    right: list[str] | None = None
    differences: list[str] = []
    seeded: bool = False
    unlike: int = 0


class Explained(_Message):
    """A criterion was run again.

    Attributes:
        graded: what it was made from.
        now: what it came to.
        status: how the whole component stands.
        component_message: what is said of that.
        over: the criteria that hung or died before the component was over.
        stand_ins: the components that stood in.
        full: all that the check found, values included.
        drawn: the example, a line a name.
        traced: the call that tells most, if any was made.
    """

    kind: Literal["explained"] = "explained"
    graded: Graded
    now: CriterionResult
    status: ComponentStatus
    component_message: str
    over: list[str]
    stand_ins: list[str] = []
    full: list[str] = []
    drawn: list[str] = []
    traced: TracedCall | None = None


class Unreadable(_Message):
    """The submission to explain cannot be taken in."""

    kind: Literal["unreadable"] = "unreadable"
    reason: str


class UnknownCriterion(_Message):
    """The suite has no such criterion any more."""

    kind: Literal["unknown"] = "unknown"


Job = GradeJob | ExplainJob
GradeAnswer = Marked | Unchanged | Fault
ExplainAnswer = Explained | Unreadable | UnknownCriterion | Fault
Answer = Stage | Ready | Refused | GradeAnswer | ExplainAnswer

JOBS: TypeAdapter[Job] = TypeAdapter(Annotated[Job, Field(discriminator="kind")])
ANSWERS: TypeAdapter[Answer] = TypeAdapter(Annotated[Answer, Field(discriminator="kind")])


def written(message: Job | Answer) -> bytes:
    """Return a message as a line."""
    return message.model_dump_json(by_alias=True).encode() + b"\n"
