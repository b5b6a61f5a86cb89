"""The results of a class as tables of numbers: a row a submission, a column a criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from autograder.results import CriterionResult, SubmissionResult

Numbers = NDArray[np.float64]
# What a criterion earned may be a sum of shares: as near to all as floats come.
FULL = 1 - 1e-9


@dataclass(frozen=True)
class Criterion:
    """One column: a criterion of a component, worth `max_score` points."""

    id: str
    title: str
    component: str
    max_score: float
    hidden: bool
    source: str


@dataclass(frozen=True)
class Gathered:
    """A class.

    Attributes:
        results: the submissions, a row each.
        components: the greatest `max_score` of each, in the order in which results hold them.
        criteria: the columns, component after component.
        counted: which rows count in means, (submissions,): those that stand as graded.
        shares: of its points what each criterion earned, (submissions, criteria); nan where it
            never ran.
        points: the points themselves, (submissions, criteria); 0 where it never ran.
    """

    results: Sequence[SubmissionResult]
    components: dict[str, float]
    criteria: Sequence[Criterion]
    counted: NDArray[np.bool_]
    shares: Numbers
    points: Numbers


def gather(results: Sequence[SubmissionResult]) -> Gathered:
    """Gather the results of a class."""
    components: dict[str, float] = {}
    known: dict[str, dict[str, Criterion]] = {}
    for result in results:
        for name, component in result.components.items():
            components[name] = max(components.get(name, 0.0), component.max_score)
            mine = known.setdefault(name, {})
            for criterion in component.criteria:
                if criterion.id not in mine:
                    mine[criterion.id] = _column(criterion, name)
    criteria = [column for name in components for column in known[name].values()]
    places = {(column.component, column.id): n for n, column in enumerate(criteria)}
    shares = np.full((len(results), len(criteria)), nan)
    points = np.zeros((len(results), len(criteria)))
    for row, result in enumerate(results):
        for name, component in result.components.items():
            for criterion in component.criteria:
                place = places[name, criterion.id]
                points[row, place] = criterion.score
                if criterion.passed is not None:
                    shares[row, place] = share(criterion)
    counted = np.array([result.standing == "graded" for result in results], dtype=np.bool_)
    return Gathered(results, components, criteria, counted, shares, points)


def share(criterion: CriterionResult) -> float:
    """Return which part of its points a criterion earned; of one without points, if it passed."""
    worth = criterion.max_score
    return criterion.score / worth if worth else float(bool(criterion.passed))


def _column(criterion: CriterionResult, component: str) -> Criterion:
    hidden = criterion.visibility == "hidden"
    about = (criterion.id, criterion.title, component, criterion.max_score)
    return Criterion(*about, hidden, criterion.source)
