"""From a batch to the pairs that a person should look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from autograder.assignment import Assignment
from autograder.similar import known
from autograder.similar.comparing import THRESHOLD, Class
from autograder.similar.listing import Findings
from autograder.similar.reading import read


def find(
    batch: Path,
    assignment: Assignment,
    threshold: float = THRESHOLD,
    public: Iterable[Path] = (),
    tell: Callable[[str], None] = lambda words: None,
) -> Findings:
    """Compare a class.

    Args:
        batch: the folder that holds one submission an entry.
        assignment: what was handed in.
        threshold: the percentage of a component's own words from which on two are similar.
        public: files and folders of code that anybody may use.
        tell: told what is being done.

    Raises:
        UsageError: `batch` holds no class, or something public is not there.
    """
    tell("reading what is given and public")
    given = np.union1d(known.given_by(assignment), known.public(public, assignment))
    solutions = known.solutions_of(assignment)
    tell("reading the submissions")
    found = read(batch, assignment)
    tell(f"comparing {len(found.works)} submissions")
    compared = Class(found.works, given, solutions, list(assignment.totals))
    return Findings(assignment, found, compared, compared.compare(threshold), threshold)
