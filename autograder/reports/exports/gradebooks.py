"""Gradebooks to import, a row a student: Canvas', Moodle's and what `nbgrader export` writes."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Sequence

from autograder.errors import UsageError
from autograder.grading.tables import table
from autograder.reports.exports.objects import points
from autograder.reports.roster import IDS, Roster, plain
from autograder.reports.shown import LATE, About
from autograder.results import SubmissionResult

# Canvas reads these by their places.
_PLAIN = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
_CANVAS = {"student", "lastname", "firstname", "integrationid", "rootaccount", *map(plain, _PLAIN)}
# What a list of participants says of a person, and Moodle can map.
_MOODLE = {*IDS, "firstname", "lastname", "surname"}
_FEEDBACK = 2000
_NBGRADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)
# How rosters call what nbgrader has of a person.
_PERSON = (("last_name", "surname"), ("first_name",), ("email", "email_address"))


def _people(
    results: Sequence[SubmissionResult], roster: Roster, known: Collection[str]
) -> tuple[list[str], list[list[str]]]:
    """Return what a roster says in these columns: their titles, and a row a submission."""
    places = [place for place, title in enumerate(roster.header) if plain(title) in known]
    found = roster.matched(result.submission for result in results)
    rows = [[found[result.submission][place] for place in places] for result in results]
    return [roster.header[place] for place in places], rows


def canvas(results: Sequence[SubmissionResult], about: About) -> str:
    """Write a row a student, as Canvas imports it, below its own row of points possible."""
    roster, title = about.roster, about.title
    if roster is None:
        header, people = _PLAIN, [["", "", "", result.submission, ""] for result in results]
    else:
        if not (roster.has("ID") and roster.has("Section")):
            raise UsageError(
                f"--roster {roster.path} is no gradebook of Canvas, which has columns Student, ID "
                "and Section: export the gradebook there and give that file"
            )
        header, people = _people(results, roster, _CANVAS)
        # Canvas' own title of the column has its number.
        own = re.compile(re.escape(title.strip()) + r" \(\d+\)")
        title = next((n.strip() for n in roster.header if own.fullmatch(n.strip())), title)
    most = points(max((result.max_score for result in results), default=0.0))
    marks = ([*who, points(result.score)] for who, result in zip(people, results, strict=True))
    empty = [""] * (len(header) - 1)
    return table([[*header, title], ["    Points Possible", *empty, most], *marks]).decode()


def moodle(results: Sequence[SubmissionResult], about: About) -> str:
    """Write a grade and its reasons a student."""
    header, people = ["username"], [[result.submission] for result in results]
    if about.roster is not None:
        header, people = _people(results, about.roster, _MOODLE)
    marks = (
        [*who, points(result.score), _feedback(result, about)]
        for who, result in zip(people, results, strict=True)
    )
    return table([[*header, "grade", "feedback"], *marks]).decode()


def _feedback(result: SubmissionResult, about: About) -> str:
    """Return why a mark is what it is, as HTML, as Moodle takes it; students read it there."""
    seen = about.shown(result)
    # It may name the student's files: in code, no formula or link is made of a text.
    said = [LATE] if seen.late else []
    said += [f"<code>{html.escape(seen.message)}</code>"] if seen.message else []
    for name, component in seen.components.items():
        said += [html.escape(f"{name}: {words}") for words in component.causes]
        if component.status == "held":
            place = "".join(f": <code>{html.escape(words)}</code>" for words in component.notes[:1])
            said.append(f"{html.escape(name)}: held for review{place}")
    for count in range(1, len(said) + 1):
        if len("<br>".join(said[:count])) > _FEEDBACK:
            return "<br>".join([*said[: count - 1], "…"])
    return "<br>".join(said)


def nbgrader(results: Sequence[SubmissionResult], about: About) -> str:
    """Write the columns that `nbgrader export` has."""
    roster = about.roster
    found = {} if roster is None else roster.matched(result.submission for result in results)
    rows: list[Sequence[str]] = [_NBGRADER]
    for result in results:
        names = ["", "", ""]
        if roster is not None:
            names = [roster.cell(found[result.submission], *titles) for titles in _PERSON]
        score = points(result.score)
        whose = (result.assignment, "", "", result.submission)
        rows.append([*whose, *names, score, "0", score, points(result.max_score)])
    return table(rows).decode()
