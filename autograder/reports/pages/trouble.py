"""What a teacher has to look after: what was slow, died, was forbidden or rejected, who stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.results import ComponentStatus, Held, Standing, SubmissionResult

_SLOWEST = 10
# What ended a component early, in the order in which it is listed.
ENDS: tuple[ComponentStatus, ...] = ("timeout", "crashed", "forbidden", "import_error")
# Of the places in a component; whoever has read so many knows what it does.
_PLACES = 20
_UNTOUCHED = ("missing", "not_attempted")


@dataclass(frozen=True)
class Slow:
    """A submission that computed long: seconds in all, in its slowest component and call."""

    row: int
    cpu_s: float
    component: str
    component_s: float
    call_s: float


@dataclass(frozen=True)
class Group:
    """Submissions, as rows, that have something of a component in common."""

    component: str
    who: Sequence[int]


@dataclass(frozen=True)
class Reviewed:
    """A component of a submission, as a row, with the places that a person is to look at."""

    row: int
    component: str
    places: Sequence[str]


def reviewed(results: Sequence[SubmissionResult], held: bool) -> list[Reviewed]:
    """Return what is held for review, or what is noted and was graded all the same."""
    return [
        Reviewed(row, name, _named(places))
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
    groups: dict[str, list[int]] = {}
    for row, result in enumerate(results):
        for name in result.components:
            mine = groups.setdefault(name, [])
            if result.component_standing(name) == status:
                mine.append(row)
    return [Group(name, who) for name, who in groups.items() if who]


def stopped(results: Sequence[SubmissionResult]) -> list[Group]:
    """Return for every component the graded submissions of which it is the first untouched one."""
    groups: dict[str, list[int]] = {}
    for row, result in enumerate(results):
        # In the order of components, not of submissions.
        mine = {name: groups.setdefault(name, []) for name in result.components}
        if result.standing == "graded":
            for name, component in result.components.items():
                if component.status in _UNTOUCHED:
                    mine[name].append(row)
                    break
    return [Group(name, who) for name, who in groups.items() if who]


def standing(results: Sequence[SubmissionResult], wanted: Standing) -> list[int]:
    """Return the rows of the submissions that stand so."""
    return [row for row, result in enumerate(results) if result.standing == wanted]
