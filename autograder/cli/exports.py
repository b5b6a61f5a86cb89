"""The command that writes results in the formats of platforms."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from autograder import private
from autograder.cli.options import Root, assignment_of_results
from autograder.errors import UsageError
from autograder.reports.exports.format import STRICTEST, Context
from autograder.reports.exports.reading import read_results
from autograder.reports.exports.registry import FORMATS, format_of
from autograder.reports.exports.registry import export as exported
from autograder.reports.exports.roster import read_roster
from autograder.reports.terminal import plain, safe


def _formats(incomplete: str) -> list[str]:
    return [name for name in FORMATS if name.startswith(incomplete)]


def export(
    format_: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help=", ".join(FORMATS) + ".", autocompletion=_formats),
    ],
    results: Annotated[
        Path, typer.Argument(help="A result file, or the folder that `grade` wrote.")
    ],
    out: Annotated[Path | None, typer.Option(help="The file to write; default: print it.")] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="A CSV file of a course's people, for canvas, moodle and nbgrader."),
    ] = None,
    root: Root = None,
) -> None:
    """Write results in the format of a platform."""
    chosen = format_of(format_)
    console = plain(stderr=True)
    found, is_class = read_results(results)
    if chosen.takes == "class" and not is_class:
        raise UsageError(
            f"{chosen.name} is of a class, and {results} is one result: "
            "name the folder that `grade` wrote"
        )
    assignment = assignment_of_results(found[0].assignment, root)
    if assignment is None:
        console.print(
            f"the assignment {safe(found[0].assignment)} was not found, so nothing of hidden "
            "criteria is shown to students; name its project with --root",
        )
    context = Context(
        assignment=found[0].assignment,
        title=found[0].assignment if assignment is None else assignment.title,
        components=None if assignment is None else assignment.totals,
        feedback=STRICTEST if assignment is None else assignment.feedback,
        now=datetime.now(UTC),
        roster=None if roster is None else read_roster(roster),
        environment=os.environ,
        of_class=is_class,
    )
    made = exported(chosen, found, context)
    if made.text is not None:
        _write(made.text, out)
    for reason in made.left_out:
        console.print(f"not exported: {safe(reason, 500)}")
    for result in found:
        name, held = safe(result.submission, 80), ", ".join(result.held)
        if result.standing == "empty":
            console.print(f"{name}: handed in no file of it; its mark is 0")
        if held:
            console.print(
                f"{name}: {safe(held)} held for review, and 0 in its mark until that is accepted",
            )
    raise typer.Exit(int(made.faults or made.text is None))


def _write(text: str, out: Path | None) -> None:
    if out is None:
        # As bytes: a terminal of another encoding is no reason to write nothing.
        typer.echo(text.encode(), nl=False)
        return
    if not out.name:
        raise UsageError(f"--out {out} is a folder: give a file")
    try:
        private.write_file(out, text.encode())
    except OSError as error:
        raise UsageError(
            f"--out {out} cannot be written ({error.strerror}): give a file in a folder that is "
            "there and that you can write to"
        ) from error
