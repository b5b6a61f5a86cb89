"""Compute and keep beforehand what the judge computes when a component is first diagnosed.

It takes a minute or two for all components of an assignment. A platform does it when it is set up:
`python -m autograder.judge.prepared ROOT ASSIGNMENT`. Nothing depends on it but time.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from autograder.api.lazy import torch
from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.places import cache_folder
from autograder.judge.reference import ReferenceFault, workplace
from autograder.judge.suite import SuiteFault


def prepare(assignment: Assignment, component: str) -> None:
    """Have what the mistakes of a component answer computed and kept, if anything is kept.

    What was prepared once is not looked at again: a suite takes seconds to collect.

    Raises:
        UsageError: its suite or its misconceptions are broken.
    """
    folder = cache_folder()
    if folder is None:
        return
    cache = Cache(folder)
    done = cache.key_of(assignment, component, "prepared")
    if cache.load(done):
        return
    if assignment.uses_torch:
        torch.set_num_threads(1)
    try:
        with workplace(assignment), warnings.catch_warnings(action="ignore"):
            suite = collect(assignment, only=component, cache=cache)
            Diagnoser(assignment, suite.public_plans(), cache=cache).prepare(component)
    except (SuiteFault, ReferenceFault) as error:
        raise UsageError(f"the suite of {assignment.name} is broken: {error}") from error
    cache.save(done, True)


def main() -> None:
    """Prepare all components of an assignment."""
    assignment = load_assignment(Path(sys.argv[1]), sys.argv[2])
    for component in assignment.totals:
        prepare(assignment, component)


if __name__ == "__main__":
    main()
