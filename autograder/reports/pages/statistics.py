"""The numbers of a class: what its submissions earned, and which misconceptions they have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograder.results import ComponentResult, CriterionResult, SubmissionResult, light
from autograder.text import AND, BOTH, counted, points

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
# Of more changes of a solution none says much.
_CHANGES = 3
# How the words of several are joined: all of them are there, or one of them is.
_OR = " or: "
# How they begin then.
_LEAD = re.compile(f"one of these: |{BOTH}")
# The brackets at the end name where the course treats it.
_SOURCE = re.compile(r"\s*\(((?:[^()]|\([^()]*\))*)\)\s*\Z")
# Components in which nothing can be recognised.
_NOTHING = ("missing", "not_attempted")
# How surely words are of one misconception alone, the surest first.
_ALONE, _APART, _JOINED = range(3)


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


@dataclass
class Mistake:
    """One misconception in a class.

    Attributes:
        id: its name, `<component>.<name>`.
        component: where it was found.
        said: what students are told, and how surely that is of this one alone.
        who: rows of the submissions that have it.
        perhaps: rows of those that have it or another one, which answers the same.
        lost: all points that the component lost, for each that has it. How many of them are due to
            it is not known: hidden criteria name no mistake.
        n: submissions in which the component was attempted.
    """

    id: str
    component: str
    said: tuple[int, str]
    who: list[int] = field(default_factory=list)
    perhaps: list[int] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    n: int = 0

    @property
    def words(self) -> str:
        """The explanation, without its source."""
        return sourced(self.said[1])[0]

    @property
    def source(self) -> str:
        """Where the course treats it; empty where the words name no place."""
        return sourced(self.said[1])[1]

    @property
    def mean_lost(self) -> float | None:
        """The points that a component with it lost on average; None where it is nowhere surely."""
        return sum(self.lost) / len(self.lost) if self.lost else None

    @property
    def several(self) -> bool:
        """Whether more than one submission has it, or perhaps has it."""
        return len(self.who) + len(self.perhaps) > 1


class Pair(NamedTuple):
    """Mistakes that are together in a component, in which submissions, and its mean loss."""

    names: Sequence[str]
    rows: Sequence[int]
    lost: float


class Nearest(NamedTuple):
    """Changes of a solution after which it fails as submissions do whose mistake has no name.

    Attributes:
        component: where they fail.
        changes: what is changed and in which line, each change alone.
        who: the ids of the submissions.
    """

    component: str
    changes: list[str]
    who: list[str]

    @property
    def words(self) -> str:
        """How they fail, with a few of the changes."""
        more = len(self.changes) - _CHANGES
        others = [f"{counted(more, 'other change')}"] if more > 0 else []
        return f"fails as the solution does with {' or '.join(self.changes[:_CHANGES] + others)}"


def mistakes_of(results: Sequence[SubmissionResult]) -> tuple[list[Mistake], list[Pair]]:
    """Return the misconceptions that were recognised, and those that are together.

    First come those whose components lost most points, in all submissions that have them.
    """
    found: dict[tuple[str, str], Mistake] = {}
    pairs: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    attempted: Counter[str] = Counter()
    for row, result in enumerate(results):
        for name, component in result.components.items():
            attempted[name] += component.status not in _NOTHING
            said = _said(component)
            lost = component.max_score - component.score
            if len(said) > 1 and not component.either:
                pairs.setdefault(tuple(said), []).append((row, lost))
            for mistake, words in said.items():
                one = found.setdefault((name, mistake), Mistake(mistake, name, words))
                one.said = min(one.said, words, key=lambda said: said[0])
                if component.either:
                    one.perhaps.append(row)
                    continue
                one.who.append(row)
                one.lost.append(lost)
    for one in found.values():
        one.n = attempted[one.component]
    # Sums of the same points in another order may differ in their last digit.
    mistakes = sorted(
        found.values(), key=lambda m: (-round(sum(m.lost), 4), -len(m.who), -len(m.perhaps), m.id)
    )
    return mistakes, [
        Pair(names, [row for row, _ in had], sum(lost for _, lost in had) / len(had))
        for names, had in sorted(pairs.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    ]


def _said(component: ComponentResult) -> dict[str, tuple[int, str]]:
    """Return what is said of each misconception of a component, and how surely of it alone."""
    names = list(dict.fromkeys(component.misconceptions))
    whole = " ".join(component.causes)
    if len(names) == 1:
        return {names[0]: (_ALONE, whole)}
    parts = _LEAD.sub("", whole, count=1).split(_OR if component.either else AND)
    if len(parts) == len(names):
        return {name: (_APART, words) for name, words in zip(names, parts, strict=True)}
    return dict.fromkeys(names, (_JOINED, whole))


def sourced(words: str) -> tuple[str, str]:
    """Return an explanation and its source, which stands in brackets at its end.

    Where several mistakes are joined, each has a source of its own, and all stay where they are.
    """
    if f"){AND}" in words or f"){_OR}" in words:
        return words, ""
    place = _SOURCE.search(words)
    return (words[: place.start()], place[1]) if place else (words, "")
