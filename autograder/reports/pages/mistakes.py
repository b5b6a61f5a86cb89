"""The misconceptions of a class: how many have each, who, in which words, and where to read on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.results import ComponentResult, SubmissionResult

# How the words of several are joined: all of them are there, or one of them is.
_AND, _OR, _ONE_OF = "; and ", " or: ", "one of these: "
# What stands in brackets at the end is where the course treats it.
_SOURCE = re.compile(r"\s*\(((?:[^()]|\([^()]*\))*)\)\s*\Z")
# Components in which nothing can be recognised.
_NOTHING = ("missing", "not_attempted")


@dataclass
class Mistake:
    """One misconception in a class.

    Attributes:
        id: its name, `<component>.<name>`.
        component: where it was found.
        words: what students are told.
        source: where the course treats it; empty where the words name no place.
        who: rows of the submissions that have it.
        perhaps: rows of those that have it or another one, which answers the same.
        cost: points of the criteria that it explains, in all submissions of `who` together.
        n: submissions in which the component was attempted.
    """

    id: str
    component: str
    words: str = ""
    source: str = ""
    who: list[int] = field(default_factory=list)
    perhaps: list[int] = field(default_factory=list)
    cost: float = 0.0
    n: int = 0

    @property
    def mean_cost(self) -> float | None:
        """The points that it cost on average; None where it is nowhere for sure."""
        return self.cost / len(self.who) if self.who else None


def mistakes_of(results: Sequence[SubmissionResult]) -> list[Mistake]:
    """Return the misconceptions that were recognised, the most frequent first."""
    found: dict[tuple[str, str], Mistake] = {}
    words: dict[tuple[str, str], tuple[int, str]] = {}
    attempted: dict[str, int] = {}
    for row, result in enumerate(results):
        for name, component in result.components.items():
            attempted[name] = attempted.get(name, 0) + (component.status not in _NOTHING)
            lost = sum(c.max_score - c.score for c in component.criteria if c.causes)
            for mistake, rank, said in _said(component):
                key = (name, mistake)
                one = found.setdefault(key, Mistake(mistake, name))
                (one.perhaps if component.either else one.who).append(row)
                one.cost += 0.0 if component.either else lost
                if key not in words or rank < words[key][0]:
                    words[key] = (rank, said)
    for key, one in found.items():
        one.words, one.source = sourced(words[key][1])
        one.n = attempted[one.component]
    return sorted(found.values(), key=lambda m: (-len(m.who), -len(m.perhaps), m.id))


def _said(component: ComponentResult) -> Iterator[tuple[str, int, str]]:
    """Yield the misconceptions of a component, and what is said of each.

    The number in the middle says how sure it is that the words are of that one alone: 0 surely,
    2 they are not.
    """
    names = list(dict.fromkeys(component.misconceptions))
    whole = " ".join(component.causes)
    if len(names) == 1:
        yield names[0], 0, whole
        return
    parts = whole.removeprefix(_ONE_OF).split(_OR if component.either else _AND)
    apart = len(parts) == len(names)
    for place, name in enumerate(names):
        yield name, 1 if apart else 2, parts[place] if apart else whole


def sourced(words: str) -> tuple[str, str]:
    """Return an explanation and its source, which stands in brackets at its end.

    Where several mistakes are joined, each has a source of its own, and all stay where they are.
    """
    if f"){_AND}" in words or f"){_OR}" in words:
        return words, ""
    place = _SOURCE.search(words)
    return (words[: place.start()], place[1]) if place else (words, "")
