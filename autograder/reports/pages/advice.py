"""What a student reads first: what to do next, what cost points, and what has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.pages.mistakes import sourced
from autograder.reports.shown import WHOLE, Shown, ShownComponent, ShownCriterion

_SAME = 1e-9


@dataclass(frozen=True)
class Cost:
    """One reason for lost points, told once.

    Attributes:
        component: where it was found.
        words: what it is; `known` tells whether it is a known mistake.
        points: all that it cost.
        criteria: how many criteria it cost points.
    """

    component: str
    words: str
    known: bool
    points: float
    criteria: int


@dataclass(frozen=True)
class Next:
    """What to do next: a component, in which words, where to read, and what comes after it."""

    component: str
    words: Sequence[str]
    source: str
    after: Sequence[str]


@dataclass(frozen=True)
class Step:
    """A criterion that earned more or less than before; scores are None where it was not there."""

    component: str
    title: str
    before: float | None
    after: float | None

    @property
    def gained(self) -> bool:
        """Whether it earned more than before."""
        return (self.after or 0.0) > (self.before or 0.0)


@dataclass(frozen=True)
class Changed:
    """What is different from an earlier attempt."""

    before: str
    after: str
    steps: Sequence[Step]


def costs(seen: Shown) -> list[Cost]:
    """Return what cost points, upstream components first and each cause once."""
    found: list[Cost] = []
    told: set[str] = set()
    for name, component in seen.components.items():
        lost = [c for c in component.criteria if _lost(c) > _SAME]
        if component.status in WHOLE:
            if lost:
                words = STATUS_WORDS[component.status]
                found.append(Cost(name, words, False, _sum(lost), len(lost)))
            continue
        for cause in dict.fromkeys(cause for c in lost for cause in c.causes):
            if cause not in told:
                told.add(cause)
                # Wherever it cost something: it is one mistake.
                its = [c for c in _all(seen) if cause in c.causes and _lost(c) > _SAME]
                found.append(Cost(name, cause, True, _sum(its), len(its)))
        rest = [c for c in lost if not c.causes]
        if rest:
            words = STATUS_WORDS[component.status] or "No known mistake was recognised."
            found.append(Cost(name, words, False, _sum(rest), len(rest)))
    return found


def next_step(seen: Shown) -> Next | None:
    """Return what to do next: the first component in order that lost points is where to begin.

    Its loss is its own: what another component cost it, a stand-in has given back.
    """
    short = [n for n, component in seen.components.items() if _short(component)]
    if not short:
        return None
    component = seen.components[short[0]]
    lost = [criterion for criterion in component.criteria if _lost(criterion) > _SAME]
    if component.causes:
        words, source = sourced(component.causes[0])
        return Next(short[0], [words], source, short[1:])
    if component.status in WHOLE or not lost:
        status = STATUS_WORDS[component.status]
        words_of = [words for words in (status, *component.notes[:1]) if words]
        return Next(short[0], words_of, "", short[1:])
    # What hidden checks find says little: a public one first.
    first = min(lost, key=lambda criterion: criterion.hidden)
    told = [STATUS_WORDS[component.status], f"The first that is lost: {first.title}"]
    told += [f"hint: {hint}" for hint in first.hints[:1]]
    return Next(short[0], [words for words in told if words], first.source, short[1:])


def changed(before: Shown, after: Shown) -> Changed:
    """Return what is different from an earlier attempt, as far as both show it."""
    marks = [_mark(one) for one in (before, after)]
    steps = list(_steps(before, after)) if before.components and after.components else []
    return Changed(marks[0], marks[1], steps)


def _steps(before: Shown, after: Shown) -> Iterator[Step]:
    old, new = _by_title(before), _by_title(after)
    for key in dict.fromkeys((*new, *old)):
        then, now = old.get(key), new.get(key)
        if then is None or now is None or abs(then - now) > _SAME:
            yield Step(key[0], key[1], then, now)


def _by_title(seen: Shown) -> Mapping[tuple[str, str, int], float]:
    found: dict[tuple[str, str, int], float] = {}
    for name, component in seen.components.items():
        counts: Counter[str] = Counter()
        for criterion in component.criteria:
            found[name, criterion.title, counts[criterion.title]] = criterion.score
            counts[criterion.title] += 1
    return found


def _mark(seen: Shown) -> str:
    if seen.score is None:
        return "no mark"
    words = "" if seen.status == "graded" else f" ({seen.status})"
    return f"{seen.score:g} of {seen.max_score:g} points{words}"


def _all(seen: Shown) -> Iterator[ShownCriterion]:
    for component in seen.components.values():
        yield from component.criteria


def _short(component: ShownComponent) -> bool:
    return component.max_score - component.score > _SAME


def _lost(criterion: ShownCriterion) -> float:
    return criterion.max_score - criterion.score


def _sum(criteria: Sequence[ShownCriterion]) -> float:
    return round(sum(map(_lost, criteria)), 4)
