"""The grades that `nbgrader export` writes, with every cell quoted where it must be."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.grading.tables import table
from autograder.reports.exports.format import Context, Format, points
from autograder.results import SubmissionResult

HEADER = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    roster = context.roster
    found = {} if roster is None else roster.matched(result.submission for result in results)
    rows: list[Sequence[str]] = [HEADER]
    for result in results:
        names = ["", "", ""]
        if roster is not None:
            who = found[result.submission]
            columns = (("last_name", "surname"), ("first_name",), ("email", "email_address"))
            names = [roster.cell(who, *column) for column in columns]
        score = points(result.score)
        rows.append(
            [
                *(result.assignment, "", "", result.submission),
                *names,
                *(score, "0", score, points(result.max_score)),
            ]
        )
    return table(rows).decode()


FORMAT = Format("nbgrader", "grades as nbgrader exports them", "class", _write)
