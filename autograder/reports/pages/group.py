"""The page of a class: what a teacher looks at.

It holds no code of students and no value; of what is held for review, the places and names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from autograder.reports.pages import trouble
from autograder.reports.pages.gathered import FULL, Gathered, Numbers
from autograder.reports.pages.items import ENOUGH, Item, items_of, together
from autograder.reports.pages.mistakes import mistakes_of
from autograder.reports.pages.render import data, page
from autograder.results import ComponentStanding, ComponentStatus, Standing, SubmissionResult
from autograder.text import clean

_ID = 120
_TEXT = 300
_BINS = 10
_STANDINGS: dict[Standing, str] = {
    "graded": "have a mark",
    "empty": "handed in no file of it",
    "rejected": "could not be taken in",
    "error": "the grader failed on them",
}
_ENDS: dict[ComponentStatus, str] = {
    "timeout": "Took too long",
    "crashed": "Died",
    "forbidden": "Called what is not allowed",
    "import_error": "Cannot be imported",
}
_STATUSES: dict[ComponentStanding, str] = {
    "missing": "no file",
    "not_attempted": "not attempted",
    "import_error": "cannot be imported",
    "timeout": "took too long",
    "crashed": "died",
    "forbidden": "forbidden",
    "held": "held for review",
}


@dataclass(frozen=True)
class Person:
    """Who is named on the page, and the file of their own."""

    id: str
    file: str


def class_page(gathered: Gathered, files: Sequence[str], title: str, now: datetime) -> str:
    """Return the page of a class.

    Args:
        gathered: its results.
        files: the file of each student's page, in the order of the rows.
        title: the assignment's.
        now: the time, with its offset.
    """
    results = gathered.results
    people = [
        Person(clean(result.submission, _ID) or "(no name)", f"students/{file}")
        for result, file in zip(results, files, strict=True)
    ]
    items = items_of(gathered)

    def named(rows: Sequence[int]) -> list[Person]:
        return [people[row] for row in rows]

    totals = np.array([r.score or 0.0 for r in results])[gathered.counted]
    most = max((r.max_score for r in results), default=0.0)
    values: dict[str, Any] = {
        "title": title,
        "made": f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC",
        "count": len(results),
        "standings": [
            (name, words, len(trouble.standing(results, name)))
            for name, words in _STANDINGS.items()
        ],
        "figures": _figures(totals, most),
        "histogram": _histogram(totals, most),
        "components": [_component(gathered, n, c) for n, c in gathered.components.items()],
        "criteria": [_item(gathered, place, item) for place, item in enumerate(items)],
        "everybody": [gathered.criteria[n] for n, item in enumerate(items) if item.everybody],
        "nobody": [gathered.criteria[n] for n, item in enumerate(items) if item.nobody],
        "against": [
            _item(gathered, place, item)
            for place, item in enumerate(items)
            # Of few, half of those that tell nothing are below 0.
            if item.discrimination is not None and item.discrimination < 0 and not item.few
        ],
        "together": [
            {"criteria": [gathered.criteria[n] for n in group.criteria], "group": group}
            for group in together(gathered)
        ],
        "enough": ENOUGH,
        "mistakes": [
            {"mistake": one, "who": named(one.who), "perhaps": named(one.perhaps)}
            for one in mistakes_of(results)
        ],
        "reviewed": [
            (held, [(people[row], *one) for row, *one in trouble.reviewed(results, held)])
            for held in (True, False)
        ],
        "slow": [{"person": people[one.row], "slow": one} for one in trouble.slowest(results)],
        "ends": [
            (words, [(g.component, named(g.who)) for g in trouble.ended(results, status)])
            for status, words in _ENDS.items()
        ],
        "stopped": [(g.component, named(g.who)) for g in trouble.stopped(results)],
        "empty": named(trouble.standing(results, "empty")),
        "refused": [
            (name, [(people[row], clean(results[row].message, _TEXT)) for row in rows])
            for name in ("rejected", "error")
            if (rows := trouble.standing(results, name))
        ],
        "data": data(_data(gathered, items, people)),
    }
    return page("class.html.jinja", ["theme.js", "tables.js", "class.js"], values)


def _figures(totals: Numbers, most: float) -> list[tuple[str, str]]:
    """Return the figures of the scores; without a deviation for fewer than two."""
    if not len(totals):
        return []
    low, middle, high = np.percentile(totals, [25, 50, 75])
    figures = [("mean", totals.mean()), ("median", middle)]
    found = [(name, f"{value:.1f} of {most:g}") for name, value in figures]
    found.append(("middle half", f"{low:.1f} to {high:.1f}"))
    if len(totals) > 1:
        found.append(("standard deviation", f"{totals.std(ddof=1):.1f}"))
    return found


def _histogram(scores: Numbers, most: float) -> list[dict[str, Any]]:
    """Return ten bins, and one for who has all points, each with its part of the greatest."""
    full = scores >= most * FULL if most else np.ones(len(scores), dtype=bool)
    shares = scores[~full] / most if most else scores[~full]
    places = np.clip((shares * _BINS + 1e-9).astype(int), 0, _BINS - 1)
    counts = [int((places == n).sum()) for n in range(_BINS)] + [int(full.sum())]
    greatest = max(*counts, 1)
    words = [f"{n * 100 // _BINS}–{(n + 1) * 100 // _BINS}" for n in range(_BINS)] + ["all"]
    return [
        {"words": name, "count": count, "part": count / greatest}
        for name, count in zip(words, counts, strict=True)
    ]


def _component(gathered: Gathered, name: str, most: float) -> dict[str, Any]:
    counted = [r for r, yes in zip(gathered.results, gathered.counted, strict=True) if yes]
    mine = [r for r in counted if name in r.components]
    scores = np.array([result.components[name].score for result in mine])
    stands = Counter(result.component_standing(name) for result in mine)
    return {
        "name": name,
        "max_score": f"{most:g}",
        "n": len(mine),
        "mean": f"{scores.mean():.1f}" if len(scores) else "–",
        "median": f"{np.median(scores):.1f}" if len(scores) else "–",
        "full": int((scores >= most * FULL).sum()),
        "histogram": _histogram(scores, most),
        "statuses": [(words, stands[one]) for one, words in _STATUSES.items() if stands[one]],
    }


def _item(gathered: Gathered, place: int, item: Item) -> dict[str, Any]:
    return {"criterion": gathered.criteria[place], "item": item}


def _data(gathered: Gathered, items: Sequence[Item], people: Sequence[Person]) -> dict[str, Any]:
    """Return what the script of the page draws and sorts."""
    components = list(gathered.components)
    return {
        "components": [[name, most] for name, most in gathered.components.items()],
        "criteria": [
            [
                clean(criterion.id, _TEXT),
                clean(criterion.title, _TEXT),
                components.index(criterion.component),
                criterion.max_score,
                int(criterion.hidden),
                None if item.difficulty is None else round(item.difficulty, 4),
            ]
            for criterion, item in zip(gathered.criteria, items, strict=True)
        ],
        "students": [
            [
                person.id,
                person.file,
                result.standing,
                None if result.score is None else round(result.score, 4),
                [_points(result, name) for name in components],
                cells,
                _remarks(result),
            ]
            for person, result, cells in zip(people, gathered.results, gathered.cells, strict=True)
        ],
    }


def _points(result: SubmissionResult, name: str) -> float | None:
    found = result.components.get(name)
    return None if found is None else round(found.score, 4)


def _remarks(result: SubmissionResult) -> str:
    """Return which components were not graded to their end; what else there is stands elsewhere."""
    if result.standing != "graded":
        return ""
    return "; ".join(
        f"{clean(name, 80)}: {_STATUSES[stands]}"
        for name in result.components
        if (stands := result.component_standing(name)) in _STATUSES
    )
