"""The command that writes the pages of a class, and what writes them when a batch is graded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.assignment import Assignment
from autograder.cli.options import Root, assignment_of_results
from autograder.errors import UsageError
from autograder.reports.exports.format import STRICTEST
from autograder.reports.exports.reading import read_results
from autograder.reports.terminal import safe
from autograder.results import SubmissionResult

FOLDER = "report"


def report(
    results: Annotated[
        Path, typer.Argument(help="A result file, or the folder that `grade` wrote.")
    ],
    out: Annotated[Path, typer.Option(help="The folder of the pages: a new one, or theirs.")],
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Name nobody, and show nothing students wrote.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(help="Results of an earlier attempt, with which students' pages compare."),
    ] = None,
    root: Root = None,
) -> None:
    """Write a page of the class, and one for each student."""
    # Here and not above: numpy and jinja2 are of no use to other commands.
    from autograder.reports.pages.writing import About, must_be_ours, write_pages

    must_be_ours(out)
    found, _ = read_results(results)
    before, _ = read_results(since) if since is not None else ([], False)
    if before and before[0].assignment != found[0].assignment:
        raise UsageError(
            f"--since {since} holds results of {before[0].assignment}, and {results} of "
            f"{found[0].assignment}: give those of one assignment"
        )
    console = Console(soft_wrap=True)
    name = found[0].assignment
    assignment = assignment_of_results(name, root)
    if assignment is None:
        Console(stderr=True, soft_wrap=True).print(
            f"the assignment {safe(name)} was not found, so nothing of hidden criteria is shown to "
            "students; name its project with --root",
            highlight=False,
        )
    about = About(
        title=name if assignment is None else assignment.title,
        feedback=STRICTEST if assignment is None else assignment.feedback,
        now=datetime.now(UTC),
        earlier={result.submission: result for result in before},
        anonymous=anonymous,
    )
    console.print(safe(str(write_pages(found, out, about)), 2000), highlight=False)


def write_after_grading(
    console: Console,
    assignment: Assignment,
    out: Path,
    results: Sequence[SubmissionResult],
    regraded: Sequence[tuple[SubmissionResult, SubmissionResult]],
) -> None:
    """Write the pages beside the results, and say where; what goes wrong is said and no more.

    Args:
        console: where to say it.
        assignment: what was graded.
        out: the folder of the results.
        results: all of the class.
        regraded: the earlier and the new result of what was graded again.
    """
    place = out / FOLDER
    try:
        from autograder.reports.pages.writing import About, write_pages

        now = datetime.now(UTC)
        earlier = {after.submission: before for before, after in regraded}
        about = About(assignment.title, assignment.feedback, now, earlier)
        words = f"Pages: {safe(str(write_pages(results, place, about)), 2000)}"
    # Marks are made, and pages can be made again: nothing here may cost a mark.
    except Exception as error:
        words = (
            f"the pages could not be written to {safe(str(place), 500)} ({safe(str(error), 500)}): "
            "the marks are as they are; `autograder report` writes pages"
        )
    console.print(words, highlight=False)
