"""A student's page: it is made of what `shown` returns, and of nothing else."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from autograder.reports.feedback import STATUS_WORDS, lines_of
from autograder.reports.pages.advice import changed, costs, next_step
from autograder.reports.pages.render import page
from autograder.reports.shown import WHOLE, Shown, ShownComponent, ShownCriterion
from autograder.suite.page import pictures

_WORDS = {
    "passed": "passed",
    "failed": "lost",
    "student_error": "lost: it raised an exception",
    "timeout": "lost: it took too long",
    "crashed": "lost: its process died",
    "not_run": "not run",
}
# Most of a class shows the same pictures: those of right work.
_KEPT = 512


def student_page(seen: Shown, before: Shown | None, title: str, now: datetime) -> str:
    """Return the page of one student.

    Args:
        seen: what the student may see.
        before: what of an earlier attempt; None where there is none.
        title: the assignment's.
        now: the time, with its offset.
    """
    values = {
        "title": title,
        "seen": seen,
        "headline": _headline(seen),
        "made": f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "next": next_step(seen),
        "changed": changed(before, seen) if before is not None else None,
        "costs": costs(seen),
        # Places of the page are called by numbers: a name could be anything.
        "names": {name: number for number, name in enumerate(seen.components, 1)},
        "components": [_component(name, c) for name, c in seen.components.items()],
    }
    return page("student.html.jinja", ["theme.js"], values)


def _headline(seen: Shown) -> str:
    if seen.status == "rejected":
        return "Rejected: it could not be taken in"
    if seen.score is None:
        return "No mark yet"
    return f"{seen.score:g} of {seen.max_score:g} points"


def _component(name: str, component: ShownComponent) -> dict[str, Any]:
    whole = component.status in WHOLE
    criteria = [] if whole else [_criterion(c, component.causes) for c in component.criteria]
    return {
        "name": name,
        "score": f"{component.score:g}",
        "max_score": f"{component.max_score:g}",
        "share": component.score / component.max_score if component.max_score else 1.0,
        "status": STATUS_WORDS[component.status],
        "notes": component.notes,
        "causes": component.causes,
        "lost": [c for c in criteria if c["points_lost"]],
        "passed": [c for c in criteria if not c["points_lost"]],
        "views": Markup() if whole else _drawn(component.views),
    }


def _criterion(criterion: ShownCriterion, said: Sequence[str]) -> dict[str, Any]:
    outcome = criterion.outcome or ("passed" if criterion.passed else "failed")
    cases = ""
    if criterion.cases > 1:
        cases = f"{criterion.passed_cases} of {criterion.cases} cases pass"
    return {
        "title": criterion.title,
        "points": f"{criterion.score:g} / {criterion.max_score:g}",
        "points_lost": criterion.max_score > criterion.score or criterion.passed is False,
        "words": _WORDS[outcome],
        "hidden": criterion.hidden,
        "cases": cases,
        "lines": [line for line in lines_of(criterion, said) if line.text.strip()],
        "source": criterion.source,
    }


def _drawn(views: Sequence[Mapping[str, Any]]) -> Markup:
    # A view that is not as expected costs nothing but itself.
    found = [_picture(json.dumps(view)) for view in views]
    return Markup().join(found)


@functools.lru_cache(_KEPT)
def _picture(view: str) -> Markup:
    try:
        drawn: Markup = pictures([json.loads(view)])
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return Markup()
    return drawn
