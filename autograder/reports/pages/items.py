"""Item analysis: how hard each criterion is, and how well it tells who knows the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autograder.reports.pages.gathered import FULL, Gathered, Numbers

# Below it a correlation is mostly chance: of 30 draws without any, one in twenty exceeds 0.36.
ENOUGH = 30
# What two submissions say of a correlation is always 1 or -1.
_LEAST = 3
# Differences of points below it are those of floats.
_SAME = 1e-9


@dataclass(frozen=True)
class Item:
    """What a class says of one criterion.

    Attributes:
        n: the graded submissions in which it ran; all else rests on these.
        unrun: the graded submissions in which it never ran.
        lost: in how many of `n` it did not earn all its points.
        difficulty: the mean share of its points that was earned, 0 to 1; None for n = 0.
        discrimination: the correlation (Pearson's, for a criterion that is passed or lost the
            point-biserial one) of that share with the points of all other criteria; None where
            one of the two does not vary, or n < 3.
    """

    n: int
    unrun: int
    lost: int
    difficulty: float | None
    discrimination: float | None

    @property
    def few(self) -> bool:
        """Whether `n` is too small to rely on."""
        return self.n < ENOUGH

    @property
    def everybody(self) -> bool:
        """Whether everybody passes it."""
        return self.n > 0 and self.lost == 0

    @property
    def nobody(self) -> bool:
        """Whether nobody passes it."""
        return self.n > 0 and self.lost == self.n


@dataclass(frozen=True)
class Together:
    """Criteria that fell together in every graded submission; `lost` by so many of `n`."""

    criteria: Sequence[int]
    lost: int
    n: int


def items_of(gathered: Gathered) -> list[Item]:
    """Return the analysis of every criterion, in their order."""
    shares, points = gathered.shares[gathered.counted], gathered.points[gathered.counted]
    total = points.sum(axis=1)
    found = []
    for place in range(shares.shape[1]):
        ran = ~np.isnan(shares[:, place])
        mine = shares[ran, place]
        rest = total[ran] - points[ran, place]
        n = int(ran.sum())
        found.append(
            Item(
                n=n,
                unrun=len(ran) - n,
                lost=int((mine < FULL).sum()),
                difficulty=float(mine.mean()) if n else None,
                discrimination=_correlation(mine, rest),
            )
        )
    return found


def together(gathered: Gathered) -> list[Together]:
    """Return the groups of criteria that everyone lost in the same part, most losses first.

    What never ran must not have run for the same submissions; what everyone earned alike is left
    out.
    """
    shares = gathered.shares[gathered.counted]
    groups: dict[bytes, list[int]] = {}
    for place in range(shares.shape[1]):
        column = shares[:, place]
        ran = column[~np.isnan(column)]
        if len(ran) and np.ptp(ran) > _SAME:
            # Of floats that are as good as the same, the same bytes.
            alike = np.nan_to_num(column.round(6), nan=-1.0) + 0.0
            groups.setdefault(alike.tobytes(), []).append(place)
    found = []
    for places in groups.values():
        if len(places) > 1:
            column = shares[:, places[0]]
            lost = int((column < FULL).sum())
            found.append(Together(places, lost, int((~np.isnan(column)).sum())))
    return sorted(found, key=lambda group: (-group.lost, -len(group.criteria), group.criteria))


def _correlation(one: Numbers, other: NDArray[np.float64]) -> float | None:
    if len(one) < _LEAST or np.ptp(one) <= _SAME or np.ptp(other) <= _SAME:
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))
