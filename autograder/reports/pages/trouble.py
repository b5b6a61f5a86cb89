"""What a teacher has to look after: what was slow, died, was held or rejected, who stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from autograder.results import ComponentStatus, Held, Standing, SubmissionResult

_SLOWEST = 10
# Of the places in a component; whoever has read so many knows what it does.
_PLACES = 20
_UNTOUCHED = ("missing", "not_attempted")


class Slow(NamedTuple):
    """A submission, as a row, that computed long: seconds in all, in one component, in one call."""

    row: int
    cpu_s: float
    component: str
    component_s: float
    call_s: float


class Group(NamedTuple):
    """Submissions, as rows, that have something of a component in common."""

    component: str
    who: list[int]


def reviewed(results: Sequence[SubmissionResult], held: bool) -> list[tuple[int, str, list[str]]]:
    """Return what is held for review, or only noted: the row, the component and the places."""
    return [
        (row, name, _named(places))
        for row, result in enumerate(results)
        for name, places in (result.held if held else result.noted).items()
    ]


def _named(places: Sequence[Held]) -> list[str]:
    # Where nobody is named, no file is.
    found = [place.words for place in places if place.file]
    more = [f"and {len(found) - _PLACES} more"] if len(found) > _PLACES else []
    return found[:_PLACES] + more


def slowest(results: Sequence[SubmissionResult]) -> list[Slow]:
    """Return the submissions that computed longest, the slowest first."""
    found = []
    for row, result in enumerate(results):
        used = {n: c.usage for n, c in result.components.items() if c.usage is not None}
        if used:
            name = max(used, key=lambda name: used[name].cpu_s)
            total = sum(usage.cpu_s for usage in used.values())
            call = max(usage.call_s for usage in used.values())
            found.append(Slow(row, total, name, used[name].cpu_s, call))
    return sorted(found, key=lambda one: -one.cpu_s)[:_SLOWEST]


def ended(results: Sequence[SubmissionResult], status: ComponentStatus) -> list[Group]:
    """Return for every component the submissions in which it ended so."""
    groups = _groups(results)
    for row, result in enumerate(results):
        for name in result.components:
            if result.component_standing(name) == status:
                groups[name].append(row)
    return [Group(name, who) for name, who in groups.items() if who]


def stopped(results: Sequence[SubmissionResult]) -> list[Group]:
    """Return for every component the graded submissions of which it is the first untouched one."""
    groups = _groups(results)
    for row, result in enumerate(results):
        if result.standing == "graded":
            untouched = (n for n, c in result.components.items() if c.status in _UNTOUCHED)
            for name in list(untouched)[:1]:
                groups[name].append(row)
    return [Group(name, who) for name, who in groups.items() if who]


def _groups(results: Sequence[SubmissionResult]) -> dict[str, list[int]]:
    """Return an empty list for each component, in the order of components, not of submissions."""
    return {name: [] for result in results for name in result.components}


def standing(results: Sequence[SubmissionResult], wanted: Standing) -> list[int]:
    """Return the rows of the submissions that stand so."""
    return [row for row, result in enumerate(results) if result.standing == wanted]
