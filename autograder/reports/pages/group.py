"""The page of a class, for its teacher.

It holds no code of students and no value; of what is held for review, the places and names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import numpy as np

from autograder.reports.pages.statistics import (
    ENOUGH,
    FULL,
    Gathered,
    Nearest,
    figures,
    histogram,
    items_of,
    mistakes_of,
    together,
)
from autograder.reports.render import page
from autograder.results import ComponentStanding, Standing, SubmissionResult, Usage
from autograder.text import clean

_ID = 120
_TEXT = 300
_SLOWEST = 10
# A reader who has seen this number of places in a component knows what it does.
_PLACES = 20
_ACCEPT = (
    "None of this was run, and it has no points yet. Look at the places in the files; then "
    "`autograder accept RESULTS SUBMISSION COMPONENT` (RESULTS: the folder of these results) "
    "accepts exactly these files, and grading again gives the points."
)
_UNTOUCHED = ("missing", "not_attempted")
_ENDS = {
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
    """A submission, how the page calls it, and the file of its own page."""

    id: str
    file: str
    result: SubmissionResult

    @cached_property
    def standings(self) -> dict[str, ComponentStanding]:
        """How each component stands."""
        return {name: self.result.component_standing(name) for name in self.result.components}

    @property
    def stopped(self) -> str:
        """The first component that a graded submission left out or did not begin."""
        untouched = (n for n, c in self.result.components.items() if c.status in _UNTOUCHED)
        return next(untouched, "") if self.result.standing == "graded" else ""


# Something to look after: in which component if in one, whose, and what is known of it.
Care = tuple[str, Sequence[Person], Sequence[str]]


def class_page(
    gathered: Gathered,
    files: Sequence[str],
    title: str,
    now: datetime,
    near: Sequence[Nearest] = (),
) -> str:
    """Return the page of a class.

    Args:
        gathered: its results.
        files: those of its students' pages, in their order.
        title: the assignment's.
        now: when the page is made.
        near: for mistakes without a name, the changes of a solution that fail as they do.
    """
    people = [
        Person(clean(result.submission, _ID) or "(no name)", f"students/{file}", result)
        for result, file in zip(gathered.results, files, strict=True)
    ]
    graded = [person for person in people if person.result.standing == "graded"]
    totals = [person.result.score or 0.0 for person in graded]
    most = max((person.result.max_score for person in people), default=0.0)
    mistakes, pairs = mistakes_of(gathered.results)
    values: dict[str, Any] = {
        "title": title,
        "now": now,
        "people": people,
        "graded": len(graded),
        "trouble": _trouble(gathered, people),
        "figures": figures(totals, most),
        "histogram": histogram(totals, most),
        "components": [_component(graded, *component) for component in gathered.components.items()],
        "names": list(gathered.components),
        "items": items_of(gathered),
        "together": together(gathered),
        "enough": ENOUGH,
        "mistakes": mistakes,
        "pairs": pairs,
        "near": [(one, [p for p in people if p.result.submission in one.who]) for one in near],
        "picked": lambda rows: [people[row] for row in rows],
        "rows": list(zip(people, gathered.cells, strict=True)),
        "slow": _slowest(people),
        "STATUSES": _STATUSES,
    }
    return page("class.html.jinja", ["pages.js", "class.js"], values)


def _trouble(gathered: Gathered, people: Sequence[Person]) -> list[tuple[str, str, list[Care]]]:
    """Return what a teacher looks at first: headings, what to do about it, and whose it is."""

    def parts(holds: Callable[[Person, str], bool]) -> list[Care]:
        found = [(name, [p for p in people if holds(p, name)]) for name in gathered.components]
        return [(name, whose, ()) for name, whose in found if whose]

    def reasons(wanted: Standing) -> list[Care]:
        whose = [person for person in people if person.result.standing == wanted]
        words = [clean(person.result.message, _TEXT) for person in whose]
        return [("", [who], [why] if why else []) for who, why in zip(whose, words, strict=True)]

    def ended(status: str) -> list[Care]:
        return parts(lambda person, name: person.standings.get(name) == status)

    empty = [person for person in people if person.result.standing == "empty"]
    unsteady: list[Care] = [
        (n, [people[r] for r in rows], ()) for n, rows in gathered.unsteady.items()
    ]
    return [
        ("Held for review", _ACCEPT, _places(people, "held")),
        ("The grader failed", "There is no mark: grade them again.", reasons("error")),
        ("Doubled", "There is no mark: remove all entries but one.", reasons("doubled")),
        ("Rejected", "", reasons("rejected")),
        ("No file of the assignment", "", [("", empty, ())] if empty else []),
        ("Unsteady", "Repeated calls gave other answers: the mark may differ.", unsteady),
        *((words, "", ended(status)) for status, words in _ENDS.items()),
        ("Ran, and earned nothing", "", parts(_earned_nothing)),
        ("Noted by the review, and graded", "", _places(people, "noted")),
        (
            "Stopped at the same component",
            "The first component that they left out or did not begin.",
            parts(lambda person, name: person.stopped == name),
        ),
    ]


def _earned_nothing(person: Person, name: str) -> bool:
    part = person.result.components.get(name)
    return part is not None and part.status == "graded" and part.score == 0 < part.max_score


def _places(people: Sequence[Person], kind: Literal["held", "noted"]) -> list[Care]:
    """Return whose components are held for review, or only noted, and the first places."""
    found: list[Care] = []
    for person in people:
        for name, places in getattr(person.result, kind).items():
            # Without names there is no file.
            words = [place.words for place in places if place.file]
            more = [f"and {len(words) - _PLACES} more"] if len(words) > _PLACES else []
            found.append((name, [person], words[:_PLACES] + more))
    return found


def _component(graded: Sequence[Person], name: str, most: float) -> dict[str, Any]:
    mine = [person for person in graded if name in person.standings]
    scores = [person.result.components[name].score for person in mine]
    return {
        "name": name,
        "max_score": most,
        "n": len(mine),
        "mean": float(np.mean(scores)) if scores else None,
        "median": float(np.median(scores)) if scores else None,
        "full": sum(score >= most * FULL for score in scores),
        "histogram": histogram(scores, most),
        "stands": Counter(person.standings[name] for person in mine),
    }


def _slowest(people: Sequence[Person]) -> list[tuple[Person, list[tuple[str, Usage]]]]:
    """Return who computed longest, and in which components, the slowest first."""
    used = []
    for person in people:
        parts = [(n, c.usage) for n, c in person.result.components.items() if c.usage is not None]
        used.append((person, sorted(parts, key=lambda part: -part[1].cpu_s)))
    ran = [one for one in used if one[1]]
    return sorted(ran, key=lambda one: -sum(usage.cpu_s for _, usage in one[1]))[:_SLOWEST]
