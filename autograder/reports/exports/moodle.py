"""Moodle's import of grades: who, the mark, and feedback, which students read there."""

from __future__ import annotations

import html
from collections.abc import Sequence

from autograder.grading.tables import table
from autograder.reports.exports.format import Context, Format, points
from autograder.reports.exports.roster import IDS, plain
from autograder.results import SubmissionResult

_FEEDBACK = 2000
# What a list of participants says of a person, and Moodle can map.
_ABOUT = {*IDS, "firstname", "lastname", "surname"}


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    roster = context.roster
    if roster is None:
        header, people = ["username"], [[result.submission] for result in results]
    else:
        places = [n for n, name in enumerate(roster.header) if plain(name) in _ABOUT]
        found = roster.matched(result.submission for result in results)
        header = [roster.header[place] for place in places]
        people = [[found[result.submission][place] for place in places] for result in results]
    rows = [
        [*header, "grade", "feedback"],
        *(
            [*who, points(result.score), _feedback(result, context)]
            for who, result in zip(people, results, strict=True)
        ),
    ]
    return table(rows).decode()


def _feedback(result: SubmissionResult, context: Context) -> str:
    """Return why it is so, as HTML, as Moodle takes it."""
    seen = context.shown(result)
    # It may name the student's files: in code, no formula or link is made of a text.
    said = [f"<code>{html.escape(seen.message)}</code>"] if seen.message else []
    for name, component in seen.components.items():
        said += [html.escape(f"{name}: {words}") for words in component.causes]
        if component.status == "held":
            places = "".join(
                f": <code>{html.escape(place)}</code>" for place in component.notes[:1]
            )
            said.append(f"{html.escape(name)}: held for review{places}")
    kept: list[str] = []
    for words in said:
        kept.append(words)
        if len("<br>".join(kept)) > _FEEDBACK:
            return "<br>".join([*kept[:-1], "…"])
    return "<br>".join(kept)


FORMAT = Format("moodle", "Moodle's import of grades", "class", _write)
