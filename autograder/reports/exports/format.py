"""What a format is, what it is given, and what several of them need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from autograder.reports.exports.roster import Roster
from autograder.reports.shown import About, ShownCriterion
from autograder.results import SubmissionResult


@dataclass(frozen=True)
class Context(About):
    """What an export knows beside the results."""

    roster: Roster | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    of_class: bool = False  # the results are those of a class, however small


@dataclass(frozen=True)
class Format:
    """One format."""

    name: str
    what: str
    takes: Literal["one", "class", "either"]
    write: Callable[[Sequence[SubmissionResult], Context], str]
    needs_mark: bool = True  # it cannot say that there is no mark, so it is given none without


def points(value: float | None) -> str:
    """Write points with four decimals at most, and no more than are needed; nothing for None."""
    return "" if value is None else repr(number(value))


def number(value: float) -> float | int:
    """Return points with four decimals at most, as an integer where they are one."""
    near = round(value, 4)
    return int(near) if near == int(near) else near


def lines_of(criterion: ShownCriterion) -> list[str]:
    """Return what is said of a criterion, a line each."""
    found = [
        f"likely cause: {line.text}" if line.cause else line.text for line in criterion.lines()
    ]
    if criterion.cases > 1 and not criterion.passed and criterion.hidden:
        found.insert(0, f"{criterion.passed_cases} of {criterion.cases} cases pass")
    return [line for line in found if line]
