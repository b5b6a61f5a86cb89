"""The results of a class as tables of numbers: a row a submission, a column a criterion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from autograder.results import CriterionResult, SubmissionResult, light

Numbers = NDArray[np.float64]
# What a criterion earned may be a sum of shares: as near to all as floats come.
FULL = 1 - 1e-9
NOT_RUN, _ALL = "-", "A"
_ENDED = {"timeout": "t", "crashed": "c", "student_error": "e"}
_Row = tuple[NDArray[np.intp], Numbers, Numbers, str]


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
        results: the submissions, a row each, as `light` leaves them.
        components: the greatest `max_score` of each, in the order in which results hold them.
        criteria: the columns, component after component.
        counted: which rows count in means, (submissions,): those that stand as graded.
        shares: of its points what each criterion earned, (submissions, criteria); nan where it
            never ran.
        points: the points themselves, (submissions, criteria); 0 where it never ran.
        cells: for every submission a letter a criterion; nothing where none was graded.
    """

    results: Sequence[SubmissionResult]
    components: dict[str, float]
    criteria: Sequence[Criterion]
    counted: NDArray[np.bool_]
    shares: Numbers
    points: Numbers
    cells: Sequence[str]


class Gathering:
    """Gathers the results of a class one by one: of each it keeps a row of numbers."""

    def __init__(self) -> None:
        self._components: dict[str, float] = {}
        self._known: dict[str, dict[str, Criterion]] = {}
        # The number under which rows have a criterion, until all are known.
        self._numbers: dict[tuple[str, str], int] = {}
        self._rows: list[_Row] = []
        self._results: list[SubmissionResult] = []

    def add(self, result: SubmissionResult) -> None:
        """Add a result."""
        numbers, shares, points, letters = [], [], [], []
        for name, component in result.components.items():
            self._components[name] = max(self._components.get(name, 0.0), component.max_score)
            mine = self._known.setdefault(name, {})
            for criterion in component.criteria:
                if criterion.id not in mine:
                    mine[criterion.id] = _column(criterion, name)
                    self._numbers[name, criterion.id] = len(self._numbers)
                numbers.append(self._numbers[name, criterion.id])
                earned = nan if criterion.passed is None else share(criterion)
                shares.append(earned)
                points.append(criterion.score)
                letters.append(_letter(criterion, earned))
        row = np.array(numbers, np.intp), np.array(shares), np.array(points), "".join(letters)
        self._rows.append(row)
        self._results.append(light(result))

    def done(self) -> Gathered:
        """Return the class as it was added."""
        columns = [(name, one) for name, mine in self._known.items() for one in mine]
        criteria = [self._known[name][one] for name, one in columns]
        places = np.empty(len(columns), np.intp)
        places[[self._numbers[column] for column in columns]] = range(len(columns))
        size = (len(self._rows), len(columns))
        shares, points = np.full(size, nan), np.zeros(size)
        cells = []
        for row, (numbers, share_of, points_of, letters) in enumerate(self._rows):
            at = places[numbers]
            shares[row, at], points[row, at] = share_of, points_of
            line = [NOT_RUN] * len(columns)
            for place, letter in zip(at.tolist(), letters, strict=True):
                line[place] = letter
            cells.append("".join(line) if self._results[row].components else "")
        counted = np.array([r.standing == "graded" for r in self._results], dtype=np.bool_)
        about = self._results, self._components, criteria, counted
        return Gathered(*about, shares, points, cells)


def _letter(criterion: CriterionResult, earned: float) -> str:
    """Return how the map shows a criterion, in a letter that the script of the page reads."""
    if criterion.passed is None:
        return NOT_RUN
    if earned >= FULL:
        return _ALL
    # What ended a criterion is told of one that earned nothing.
    return str(int(earned * 10 + 1e-9)) if earned else _ENDED.get(criterion.outcome, "0")


def share(criterion: CriterionResult) -> float:
    """Return which part of its points a criterion earned; of one without points, if it passed."""
    worth = criterion.max_score
    return criterion.score / worth if worth else float(bool(criterion.passed))


def _column(criterion: CriterionResult, component: str) -> Criterion:
    hidden = criterion.visibility == "hidden"
    about = (criterion.id, criterion.title, component, criterion.max_score)
    return Criterion(*about, hidden, criterion.source)
