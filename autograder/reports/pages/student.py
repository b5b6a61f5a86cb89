"""A student's page: what to do next, what cost points, what has changed, and all criteria.

It is made of what `shown` returns, and of nothing else.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from markupsafe import Markup

from autograder.api.page import pictures
from autograder.reports.pages.statistics import sourced
from autograder.reports.render import page
from autograder.reports.shown import STATUS_WORDS, Shown, ShownCriterion

# Smaller differences of points are rounding errors.
_SAME = 1e-9
# Lines that show a call or values.
_CODE = re.compile(r"in [\w.]+[(\[]|(at \[[^\]]*\],? )?(expected|returned) ")
# Most of a class shows the same pictures: those of right work.
_KEPT = 512


class Cost(NamedTuple):
    """One reason for lost points, told once: a known mistake, or what else is known of them."""

    component: str  # the first that it cost something
    words: str
    known: bool
    points: float
    criteria: int


class Next(NamedTuple):
    """What to do next: a component, in which words, where to read, and what comes after it."""

    component: str
    words: Sequence[str]
    source: str
    after: Sequence[str]


class Step(NamedTuple):
    """A criterion that earned more or less than before; scores are None where it was not there."""

    component: str
    title: str
    before: float | None
    after: float | None

    @property
    def gained(self) -> bool:
        """Whether it earned more than before."""
        return (self.after or 0.0) > (self.before or 0.0)


def student_page(seen: Shown, before: Shown | None, title: str, now: datetime) -> str:
    """Return the page of one student, compared with an earlier attempt if there is one."""
    values = {
        "title": title,
        "now": now,
        "seen": seen,
        "before": before,
        "steps": [] if before is None else list(_steps(before, seen)),
        "next": next_step(seen),
        "costs": costs(seen),
        # Places of the page are called by numbers: a name could be anything.
        "numbers": {name: number for number, name in enumerate(seen.components, 1)},
        "STATUS_WORDS": STATUS_WORDS,
        "told": _told,
        "drawn": _drawn,
    }
    return page("student.html.jinja", ["pages.js"], values)


def costs(seen: Shown) -> list[Cost]:
    """Return what cost points, upstream components first and each cause once."""
    found: list[tuple[str, str, bool, Sequence[ShownCriterion]]] = []
    told: set[str] = set()
    everywhere = [c for component in seen.components.values() for c in _losing(component.criteria)]
    for name, component in seen.components.items():
        lost = _losing(component.criteria)
        # Of the whole component it is said why no criterion earned anything.
        causes = () if component.whole else [cause for c in lost for cause in c.causes]
        for cause in dict.fromkeys(causes):
            if cause not in told:
                told.add(cause)
                # Wherever it cost something: it is one mistake.
                found.append((name, cause, True, [c for c in everywhere if cause in c.causes]))
        words = STATUS_WORDS[component.status] or "No known mistake was recognised."
        rest = [c for c in lost if component.whole or not c.causes]
        found.append((name, words, False, rest))
    return [
        Cost(name, words, known, round(sum(c.lost for c in criteria), 4), len(criteria))
        for name, words, known, criteria in found
        if criteria
    ]


def next_step(seen: Shown) -> Next | None:
    """Return what to do next: the first component in order that lost points is where to begin.

    Its loss is its own: what another component cost it, a fallback has given back.
    """
    parts = seen.components.items()
    short = [name for name, part in parts if part.max_score - part.score > _SAME]
    if not short:
        return None
    component = seen.components[short[0]]
    lost = _losing(component.criteria)
    status, source = STATUS_WORDS[component.status], ""
    if component.causes:
        cause, source = sourced(component.causes[0])
        words = [cause]
    elif component.whole or not lost:
        words = [status, *component.notes[:1]]
    else:
        # Hidden checks say little: a public one first.
        first = min(lost, key=lambda criterion: criterion.hidden)
        words = [status, f"The first that is lost: {first.title}"]
        words += [f"hint: {hint}" for hint in first.hints[:1]]
        source = first.source
    return Next(short[0], [line for line in words if line], source, short[1:])


def _steps(before: Shown, after: Shown) -> Iterator[Step]:
    """Yield the criteria that earned more or less than before, as far as both attempts show any."""
    old, new = _scores(before), _scores(after)
    for key in dict.fromkeys((*new, *old) if old and new else ()):
        then, now = old.get(key), new.get(key)
        if then is None or now is None or abs(then - now) > _SAME:
            yield Step(key[0], key[1], then, now)


def _scores(seen: Shown) -> Mapping[tuple[str, str, int], float]:
    """Return scores by component, title, and a number for those of one title."""
    found: dict[tuple[str, str, int], float] = {}
    for name, component in seen.components.items():
        counts: Counter[str] = Counter()
        for criterion in component.criteria:
            found[name, criterion.title, counts[criterion.title]] = criterion.score
            counts[criterion.title] += 1
    return found


def _losing(criteria: Sequence[ShownCriterion]) -> list[ShownCriterion]:
    return [criterion for criterion in criteria if criterion.lost > _SAME]


def _told(criterion: ShownCriterion, said: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return what is said of a criterion: sentences, causes, and calls and values as code."""
    lines = [
        ("cause" if line.cause else "code" if _CODE.match(line.text) else "", line.text)
        for line in criterion.lines(said)
        if line.text.strip()
    ]
    groups = itertools.groupby(lines, key=lambda line: line[0])
    return [(kind, [text for _, text in group]) for kind, group in groups]


def _drawn(views: Sequence[Mapping[str, Any]]) -> Markup:
    return Markup().join(_picture(json.dumps(view)) for view in views)


@functools.lru_cache(_KEPT)
def _picture(view: str) -> Markup:
    try:
        drawn: Markup = pictures([json.loads(view)])
    # A view that is not as expected costs nothing but itself.
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return Markup()
    return drawn
