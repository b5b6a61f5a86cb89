"""The numbers of a class: what each submission earned of each criterion, and their statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograder.results import CriterionResult, SubmissionResult, light
from autograder.text import points

Numbers = NDArray[np.float64]
# A criterion's score may be a sum of shares: as near to all of its points as floats come.
FULL = 1 - 1e-9
# Below it a correlation is mostly chance: of 30 draws without any, one in twenty exceeds 0.36.
ENOUGH = 30
# A correlation of two submissions is always 1 or -1.
_LEAST = 3
# Smaller differences of points are rounding errors.
_SAME = 1e-9
_BINS = 10
# Of a criterion that never ran, and of one that a submission does not have.
_UNRUN = nan, "-"
_ENDED = {"timeout": "t", "crashed": "c", "student_error": "e"}


class Criterion(NamedTuple):
    """A criterion in a class."""

    component: str
    id: str
    title: str
    max_score: float
    hidden: bool


class Gathered:
    """The results of a class, of which only the numbers are kept: a class may exceed the memory.

    Attributes:
        results: the submissions, as `light` leaves them.
        components: the greatest `max_score` of each, in the order in which results hold them.
        unsteady: rows of the submissions whose repeated calls differed, by component.
    """

    def __init__(self, results: Iterable[SubmissionResult] = ()) -> None:
        self.results: list[SubmissionResult] = []
        self.components: dict[str, float] = {}
        self.unsteady: dict[str, list[int]] = {}
        self._criteria: dict[tuple[str, str], Criterion] = {}
        # Of each submission, by criterion: the share of its points, and how the map shows it.
        self._earned: list[dict[Criterion, tuple[float, str]]] = []
        for result in results:
            self.add(result)

    def add(self, result: SubmissionResult) -> None:
        """Add a submission."""
        earned = {}
        for name, component in result.components.items():
            self.components[name] = max(self.components.get(name, 0.0), component.max_score)
            if any(one.unsteady for one in component.criteria):
                self.unsteady.setdefault(name, []).append(len(self.results))
            for one in component.criteria:
                hidden = one.visibility == "hidden"
                new = Criterion(name, one.id, one.title, one.max_score, hidden)
                known = self._criteria.setdefault((name, one.id), new)
                earned[known] = _earned(one)
        self._earned.append(earned)
        self.results.append(light(result))

    @property
    def criteria(self) -> list[Criterion]:
        """All criteria, component after component."""
        places = {name: place for place, name in enumerate(self.components)}
        return sorted(self._criteria.values(), key=lambda one: places[one.component])

    @property
    def shares(self) -> Numbers:
        """The shares that the graded submissions earned, (criteria, submissions)."""
        counted = [
            earned
            for earned, result in zip(self._earned, self.results, strict=True)
            if result.standing == "graded"
        ]
        shares = [[its.get(one, _UNRUN)[0] for its in counted] for one in self.criteria]
        return np.reshape(shares, (len(shares), len(counted)))

    @property
    def cells(self) -> list[dict[str, str]]:
        """Each submission's letters, one per criterion, by component."""
        criteria = self.criteria
        its = {n: [c for c in criteria if c.component == n] for n in self.components}
        return [
            {
                name: "".join(earned.get(one, _UNRUN)[1] for one in its[name])
                for name in result.components
            }
            for earned, result in zip(self._earned, self.results, strict=True)
        ]


def _earned(criterion: CriterionResult) -> tuple[float, str]:
    """Return the share of a criterion's points that was earned, and how the map shows it."""
    share = criterion.share
    if criterion.passed is None:
        return _UNRUN
    if share >= FULL:
        return share, "A"
    # An exception or a timeout is shown where it earned nothing.
    return share, str(int(share * 10 + 1e-9)) if share else _ENDED.get(criterion.outcome, "0")


class Item(NamedTuple):
    """What a class says of one criterion.

    Attributes:
        n: the graded submissions in which it ran; the other figures rest on these.
        unrun: the graded submissions in which it never ran.
        lost: in how many of `n` it did not earn all its points.
        difficulty: the mean share of its points that was earned, 0 to 1; None for n = 0.
        discrimination: the correlation (Pearson's, for a criterion that is passed or lost the
            point-biserial one) of that share with the points of all other criteria; None where
            one of the two does not vary, or n < 3.
    """

    criterion: Criterion
    n: int
    unrun: int
    lost: int
    difficulty: float | None
    discrimination: float | None

    @property
    def everybody(self) -> bool:
        """Whether everybody passes it."""
        return self.n > 0 and self.lost == 0

    @property
    def nobody(self) -> bool:
        """Whether nobody passes it."""
        return self.n > 0 and self.lost == self.n


class Together(NamedTuple):
    """Criteria of which every graded submission earned the same share; `lost` of `n` lost it."""

    criteria: Sequence[Criterion]
    lost: int
    n: int


def items_of(gathered: Gathered) -> list[Item]:
    """Return the analysis of every criterion, in their order."""
    shares = gathered.shares
    worth = np.array([one.max_score for one in gathered.criteria])
    points = np.nan_to_num(shares) * worth[:, None]
    total = points.sum(axis=0)
    found = []
    for criterion, mine, its in zip(gathered.criteria, shares, points, strict=True):
        ran = ~np.isnan(mine)
        n, earned = int(ran.sum()), mine[ran]
        lost, mean = int((earned < FULL).sum()), float(earned.mean()) if n else None
        correlation = _correlation(earned, (total - its)[ran])
        found.append(Item(criterion, n, len(ran) - n, lost, mean, correlation))
    return found


def together(gathered: Gathered) -> list[Together]:
    """Return the groups of criteria that everyone lost in the same part, most losses first.

    They ran for the same submissions. Criteria of which everyone earned the same are left out.
    """
    groups: dict[bytes, list[int]] = {}
    criteria, shares = gathered.criteria, gathered.shares
    for place, column in enumerate(shares):
        ran = column[~np.isnan(column)]
        if len(ran) and np.ptp(ran) > _SAME:
            # Floats that are as good as the same have the same bytes, and so have 0.0 and -0.0.
            rounded = np.nan_to_num(column.round(6), nan=-1.0) + 0.0
            groups.setdefault(rounded.tobytes(), []).append(place)
    found = []
    for places in groups.values():
        if len(places) > 1:
            column = shares[places[0]]
            lost, n = int((column < FULL).sum()), int((~np.isnan(column)).sum())
            found.append(Together([criteria[place] for place in places], lost, n))
    return sorted(found, key=lambda group: (-group.lost, -len(group.criteria)))


def _correlation(one: Numbers, other: Numbers) -> float | None:
    if len(one) < _LEAST or np.ptp(one) <= _SAME or np.ptp(other) <= _SAME:
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def figures(totals: Sequence[float], most: float) -> list[tuple[str, str]]:
    """Return the figures of the scores by name; without a deviation for fewer than two."""
    if not totals:
        return []
    low, median, high = np.percentile(totals, [25, 50, 75])
    found = [
        ("mean", f"{np.mean(totals):.1f} of {points(most)}"),
        ("median", f"{median:.1f} of {points(most)}"),
        ("middle half", f"{low:.1f} to {high:.1f}"),
    ]
    if len(totals) > 1:
        found.append(("standard deviation", f"{np.std(totals, ddof=1):.1f}"))
    return found


def histogram(scores: Sequence[float], most: float) -> list[dict[str, Any]]:
    """Return ten bins, and one for all points, each with its part of the greatest."""
    shares = np.divide(scores, most) if most else np.ones(len(scores))
    # A sum of shares is as near to the edge of a bin as floats come.
    counts = np.histogram(shares + _SAME, [*np.linspace(0, 1, _BINS + 1), np.inf])[0].tolist()
    words = [f"{10 * n}–{10 * n + 10}" for n in range(_BINS)] + ["all"]
    greatest = max(*counts, 1)
    return [
        {"words": name, "count": count, "part": count / greatest}
        for name, count in zip(words, counts, strict=True)
    ]
