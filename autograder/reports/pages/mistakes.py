"""The misconceptions of a class: how many have each, who, in which words, and where to read on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from autograder.results import ComponentResult, SubmissionResult
from autograder.text import AND, BOTH, counted

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


@dataclass
class Mistake:
    """One misconception in a class.

    Attributes:
        id: its name, `<component>.<name>`.
        component: where it was found.
        said: what students are told, and how surely that is of this one alone.
        who: rows of the submissions that have it.
        perhaps: rows of those that have it or another one, which answers the same.
        cost: points of the criteria that it explains, where it is the component's only one.
        alone: in how many submissions that is so.
        n: submissions in which the component was attempted.
    """

    id: str
    component: str
    said: tuple[int, str]
    who: list[int] = field(default_factory=list)
    perhaps: list[int] = field(default_factory=list)
    cost: float = 0.0
    alone: int = 0
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
    def mean_cost(self) -> float | None:
        """The points that it cost on average; None where it is nowhere for sure and alone."""
        return self.cost / self.alone if self.alone else None

    @property
    def several(self) -> bool:
        """Whether more than one submission has it, or perhaps has it."""
        return len(self.who) + len(self.perhaps) > 1


class Pair(NamedTuple):
    """Mistakes that are together in a component, in which submissions, and their mean cost."""

    names: Sequence[str]
    rows: Sequence[int]
    cost: float


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
    """Return the misconceptions that were recognised, the most frequent first, and those together.

    What several cost in one component is that of all of them, and said of the pair alone.
    """
    found: dict[tuple[str, str], Mistake] = {}
    pairs: dict[tuple[str, ...], list[tuple[int, float]]] = {}
    attempted: Counter[str] = Counter()
    for row, result in enumerate(results):
        for name, component in result.components.items():
            attempted[name] += component.status not in _NOTHING
            said = _said(component)
            cost = sum(c.max_score - c.score for c in component.criteria if c.causes)
            if len(said) > 1 and not component.either:
                pairs.setdefault(tuple(said), []).append((row, cost))
            for mistake, words in said.items():
                one = found.setdefault((name, mistake), Mistake(mistake, name, words))
                one.said = min(one.said, words, key=lambda said: said[0])
                if component.either:
                    one.perhaps.append(row)
                    continue
                one.who.append(row)
                if len(said) == 1:
                    one.cost += cost
                    one.alone += 1
    for one in found.values():
        one.n = attempted[one.component]
    mistakes = sorted(found.values(), key=lambda m: (-len(m.who), -len(m.perhaps), m.id))
    return mistakes, [
        Pair(names, [row for row, _ in had], sum(cost for _, cost in had) / len(had))
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
