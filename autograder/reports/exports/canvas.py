"""Canvas' gradebook, to import: students, and one column with the marks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.errors import UsageError
from autograder.grading.tables import table
from autograder.reports.exports.format import Context, Format, points
from autograder.reports.exports.roster import Roster, plain
from autograder.results import SubmissionResult

# Canvas reads these by their places.
_PLAIN = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_KNOWN = (
    *("LastName", "FirstName", "Student", "ID", "SIS User ID", "SIS Login ID"),
    *("Integration ID", "Root Account", "Section"),
)


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    roster = context.roster
    header: Sequence[str] = _PLAIN
    if roster is None:
        people = [["", "", "", result.submission, ""] for result in results]
    else:
        header, people = _people(results, roster)
    most = points(max((result.max_score for result in results), default=0.0))
    rows = [
        [*header, _title(context.title, roster)],
        ["    Points Possible", *[""] * (len(header) - 1), most],
        *([*who, points(result.score)] for who, result in zip(people, results, strict=True)),
    ]
    return table(rows).decode()


def _people(
    results: Sequence[SubmissionResult], roster: Roster
) -> tuple[Sequence[str], list[list[str]]]:
    places = [
        place
        for place, name in enumerate(roster.header)
        if plain(name) in {plain(known) for known in _KNOWN}
    ]
    header = [roster.header[place] for place in places]
    if not {plain("ID"), plain("Section")} <= set(map(plain, header)):
        raise UsageError(
            f"--roster {roster.path} is no gradebook of Canvas, which has columns Student, ID and "
            "Section: export the gradebook there and give that file"
        )
    found = roster.matched(result.submission for result in results)
    return header, [[found[result.submission][place] for place in places] for result in results]


def _title(title: str, roster: Roster | None) -> str:
    """Return the title of the column: Canvas' own, with its number, where there is one."""
    wanted = re.compile(re.escape(title.strip()) + r" \(\d+\)")
    for name in roster.header if roster is not None else ():
        if wanted.fullmatch(name.strip()):
            return name.strip()
    return title


FORMAT = Format("canvas", "Canvas' gradebook", "class", _write)
