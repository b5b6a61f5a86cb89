"""What a submission is graded with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.assignment import Assignment
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.suite import Suite
from autograder.sandbox.host import Sandbox


@dataclass(frozen=True)
class Judge:
    """What a submission is graded with.

    Attributes:
        assignment: the assignment.
        suite: its collected suites.
        sandbox: a running sandbox.
        diagnoser: knows the misconceptions.
        provided: code and data that every component gets, by relative path.
    """

    assignment: Assignment
    suite: Suite
    sandbox: Sandbox
    diagnoser: Diagnoser
    provided: Mapping[str, bytes] = field(default_factory=dict)
