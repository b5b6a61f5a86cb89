"""A judge in this process, which grades as a worker does but without isolation."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from autograder.assignment import Assignment
from autograder.given import given_by
from autograder.judge.cache import Cache
from autograder.judge.component import Judge, all_forbidden, largest_budget
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.places import cache_folder
from autograder.judge.submission import grade_submission
from autograder.judge.suite import Suite
from autograder.results import ComponentResult
from autograder.sandbox.host import Sandbox

Grade = Callable[..., dict[str, ComponentResult]]


@pytest.fixture(scope="session")
def grade(assignment: Assignment, suite: Suite) -> Iterator[Grade]:
    """Grade a submission, given its files' texts by name, and how it is to be done."""
    sandbox = Sandbox(0, largest_budget(assignment), all_forbidden(assignment))
    diagnoser = Diagnoser(assignment, suite.public_plans(), cache=Cache(cache_folder()))
    judge = Judge(assignment, suite, sandbox, diagnoser, {}, given_by(assignment))

    def of(files: Mapping[str, str], **how: Any) -> dict[str, ComponentResult]:
        sources = {name: text.encode() for name, text in files.items()}
        return grade_submission(judge, sources, **how)

    yield of
    sandbox.close()
