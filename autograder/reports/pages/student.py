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

from autograder.reports.pages.statistics import sourced
from autograder.reports.render import page
from autograder.reports.shown import (
    ROUNDING,
    STATUS_WORDS,
    Shown,
    ShownComponent,
    ShownCriterion,
    more_in_hidden,
)
from autograder.student.page import pictures

_NO_MISTAKE = "No known mistake was recognised."
_HIDDEN = "Hidden checks, which name no mistake"
# Lines that show a call or values.
_CODE = re.compile(r"in [\w.]+[(\[]|(at \[[^\]]*\],? )?(expected|returned) ")
# Most of a class shows the same pictures: those of right work.
_KEPT = 512


class Cost(NamedTuple):
    """One reason for lost points, told once: a known mistake, or what else is known of them.

    Attributes:
        component: the first that it cost something.
        words: the reason.
        known: whether it is a known mistake.
        points, criteria: what it surely cost.
        more: what is said of the hidden criteria that it may have cost, too.
    """

    component: str
    words: str
    known: bool
    points: float
    criteria: int
    more: str = ""


class Next(NamedTuple):
    """What to do next: a component, in which words, where to read, and what comes after it."""

    component: str
    words: Sequence[str]
    source: str
    after: Sequence[str]


class Step(NamedTuple):
    """A criterion that earned a greater or smaller share of its points than before."""

    component: str
    before: ShownCriterion
    after: ShownCriterion

    @property
    def gained(self) -> bool:
        """Whether it earned more than before."""
        return self.after.share > self.before.share


def student_page(
    seen: Shown, before: Shown | None, title: str, now: datetime, other_suite: bool = False
) -> str:
    """Return the page of one student, compared with an earlier attempt if there is one.

    Args:
        seen: what is shown of it.
        before: what is shown of the earlier attempt, or None.
        title: the assignment's.
        now: when the page is made.
        other_suite: whether the earlier attempt was graded with other suites.
    """
    values = {
        "title": title,
        "now": now,
        "seen": seen,
        "before": before,
        "steps": [] if before is None else list(_steps(before, seen)),
        "other_suite": before is not None and _other_checks(before, seen, other_suite),
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
    found: list[Cost] = []
    told: set[str] = set()
    parts = [_Losses(name, component) for name, component in seen.components.items()]
    for part in parts:
        for cause in part.causes:
            if cause not in told:
                told.add(cause)
                # Wherever it cost something: it is one mistake.
                explained = [c for other in parts for c in other.explained(cause)]
                alone = [c for other in parts if other.reasons == [cause] for c in other.hidden]
                found += _cost(part.name, cause, explained, alone, known=True)
        alone = part.hidden if part.reasons == [part.words] else []
        found += _cost(part.name, part.words, part.unexplained, alone)
        if len(part.reasons) != 1:
            may = "; they may have the same causes." if part.reasons else "."
            found += _cost(part.name, f"{_HIDDEN}{may}", part.hidden)
    return found


class _Losses:
    """What a component lost, by what is known of the reason.

    Attributes:
        name: the component.
        words: what is said of criteria that could name a mistake, and name none.
        causes: the known mistakes.
        unexplained: those criteria.
        hidden: hidden criteria, which name no mistake.
    """

    def __init__(self, name: str, component: ShownComponent) -> None:
        self.name = name
        self.words = STATUS_WORDS[component.status] or _NO_MISTAKE
        self._lost = _losing(component.criteria)
        # Of the whole component it is said why no criterion earned anything.
        named = [] if component.whole else self._lost
        self.causes = list(dict.fromkeys(cause for c in named for cause in c.causes))
        rest = [c for c in self._lost if component.whole or not c.causes]
        # Why a component was not graded to its end holds for hidden criteria, too.
        to_its_end = component.status == "graded"
        self.hidden = [c for c in rest if c.hidden and to_its_end]
        self.unexplained = [c for c in rest if not (c.hidden and to_its_end)]

    @property
    def reasons(self) -> list[str]:
        """All that is said of why it lost criteria that are not hidden."""
        return [*self.causes, *([self.words] if self.unexplained else [])]

    def explained(self, cause: str) -> list[ShownCriterion]:
        """Return the criteria that a known mistake cost."""
        return [c for c in self._lost if cause in self.causes and cause in c.causes]


def _cost(
    component: str,
    words: str,
    criteria: Sequence[ShownCriterion],
    hidden: Sequence[ShownCriterion] = (),
    known: bool = False,
) -> Iterator[Cost]:
    """Yield a reason for lost points, if it cost some; `hidden` may be lost by it, too."""
    if criteria:
        more = more_in_hidden(_points(hidden)) if hidden else ""
        yield Cost(component, words, known, _points(criteria), len(criteria), more)


def _points(criteria: Sequence[ShownCriterion]) -> float:
    return round(sum(criterion.lost for criterion in criteria), 4)


def next_step(seen: Shown) -> Next | None:
    """Return what to do next: the first component in order that lost points is where to begin.

    Its loss is its own: what another component cost it, a fallback has given back.
    """
    parts = seen.components.items()
    short = [name for name, part in parts if part.max_score - part.score > ROUNDING]
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
    """Yield the criteria that earned another share than before, of those that both attempts show.

    Points may change with the suites; a share is the student's.
    """
    old = _criteria(before)
    for key, now in _criteria(after).items():
        then = old.get(key)
        if then is not None and abs(then.share - now.share) > ROUNDING:
            yield Step(key[0], then, now)


def _other_checks(before: Shown, after: Shown, other_suite: bool) -> bool:
    """Return whether the attempts were graded by other checks, or for other points."""
    old, new = (
        {key: criterion.max_score for key, criterion in _criteria(one).items()}
        for one in (before, after)
    )
    # One that was not graded shows none.
    return bool(old and new) and (other_suite or old != new)


def _criteria(seen: Shown) -> Mapping[tuple[str, str, int], ShownCriterion]:
    """Return criteria by component, title, and a number for those of one title."""
    found: dict[tuple[str, str, int], ShownCriterion] = {}
    for name, component in seen.components.items():
        counts: Counter[str] = Counter()
        for criterion in component.criteria:
            found[name, criterion.title, counts[criterion.title]] = criterion
            counts[criterion.title] += 1
    return found


def _losing(criteria: Sequence[ShownCriterion]) -> list[ShownCriterion]:
    return [criterion for criterion in criteria if criterion.lost > ROUNDING]


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
