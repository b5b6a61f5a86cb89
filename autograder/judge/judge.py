"""What a submission is graded with."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    assignment: Assignment
    suite: Suite
    sandbox: Sandbox
    diagnoser: Diagnoser
