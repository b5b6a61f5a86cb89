"""Commands for results that are there: export, report, similar."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder import private
from autograder.assignment import Assignment, load_assignment
from autograder.cli.options import NameOption, Root, SandboxChoice, completing
from autograder.errors import UsageError, repairable
from autograder.grading import store
from autograder.grading.batch import Regraded
from autograder.project import assignment_of, find_root
from autograder.reports.exports import FORMATS, format_of
from autograder.reports.exports import export as exported
from autograder.reports.roster import read_roster
from autograder.reports.shown import About, about
from autograder.reports.terminal import Printer, ProgressReport, Stages, plain, say
from autograder.results import SubmissionResult
from autograder.text import clean

if TYPE_CHECKING:
    from autograder.reports.pages.statistics import Nearest

FOLDER = "report"
Results = Annotated[Path, typer.Argument(help="A result file, or the folder that `grade` wrote.")]


def export(
    format_: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT", help=", ".join(FORMATS) + ".", autocompletion=completing(FORMATS)
        ),
    ],
    results: Results,
    out: Annotated[Path | None, typer.Option(help="The file to write; default: print it.")] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="A CSV file of a course's people, for canvas, moodle and nbgrader."),
    ] = None,
    root: Root = None,
) -> None:
    """Write results in the format of a platform."""
    chosen = format_of(format_)
    found, is_class = store.results_at(results)
    if chosen.takes == "class" and not is_class:
        raise UsageError(
            f"{chosen.name} is of a class, and {results} is one result: "
            "name the folder that `grade` wrote"
        )
    known = dataclasses.replace(
        _about(found[0].assignment, root),
        roster=None if roster is None else read_roster(roster),
        environment=os.environ,
        of_class=is_class,
    )
    made = exported(chosen, found, known)
    if made.text is not None:
        _write(made.text, out)
    for reason in made.left_out:
        say(f"not exported: {clean(reason, 500)}", stderr=True)
    for result in found:
        student, held = clean(result.submission, 80), ", ".join(result.held)
        if result.standing == "doubled" and not chosen.needs_mark:
            say(f"{student}: it has no mark: {clean(result.message)}", stderr=True)
        if result.standing == "empty":
            say(f"{student}: handed in no file of it; its mark is 0", stderr=True)
        if held:
            words = f"{held} held for review, and 0 in its mark until that is accepted"
            say(f"{student}: {words}", stderr=True)
    raise typer.Exit(int(made.faults or made.text is None))


def _write(text: str, out: Path | None) -> None:
    if out is None:
        # As bytes: a terminal of another encoding is no reason to write nothing.
        typer.echo(text.encode(), nl=False)
        return
    if not out.name:
        raise UsageError(f"--out {out} is a folder: give a file")
    repair = "give a file in a folder that is there and that you can write to"
    with repairable(f"--out {out} cannot be written", repair):
        private.write_file(out, text.encode())


def _about(name: str, root: Path | None) -> About:
    """Return what is known beside the results of an assignment."""
    found = load_assignment(find_root(root), name) if root is not None else _found(name)
    return about(name, found, datetime.now(UTC))


def _found(name: str) -> Assignment | None:
    """Return an assignment by its name; None, which is said, where it is not found by itself."""
    try:
        folder = find_root()
    except UsageError:
        folder = None
    # A malformed one is to be repaired.
    place = folder and folder / "assignments" / name / "assignment.toml"
    if folder and place and Path(name).name == name and place.is_file():
        return load_assignment(folder, name)
    say(
        f"the assignment {clean(name)} was not found, so nothing of hidden criteria is shown to "
        "students; name its project with --root",
        stderr=True,
    )
    return None


def report(
    results: Results,
    out: Annotated[Path, typer.Option(help="The folder of the pages: a new one, or theirs.")],
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="Name nobody, and show nothing students wrote.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(help="Results of an earlier attempt, with which students' pages compare."),
    ] = None,
    nearest: Annotated[
        bool,
        typer.Option(
            "--nearest",
            help="Compare mistakes without a name with small changes of your solution, which are "
            "graded for it.",
        ),
    ] = False,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Write a page of the class, and one for each student."""
    # Here and not above: numpy and jinja2 are of no use to other commands.
    from autograder.reports.pages.writing import must_be_ours, write_pages

    must_be_ours(out)
    found, _ = store.results_at(results)
    before, _ = store.results_at(since) if since is not None else ([], False)
    name = found[0].assignment
    if before and before[0].assignment != name:
        raise UsageError(
            f"--since {since} holds results of {before[0].assignment}, and {results} of "
            f"{name}: give those of one assignment"
        )
    if nearest and anonymous:
        raise UsageError(
            "--nearest shows code of your solution, and --anonymous is for others: leave one out"
        )
    near = nearest_to(load_assignment(find_root(root), name), found, sandbox) if nearest else []
    earlier = {result.submission: result for result in before}
    say(str(write_pages(found, out, _about(name, root), earlier, anonymous, near)))


def nearest_to(
    assignment: Assignment, results: Sequence[SubmissionResult], sandbox: str
) -> list[Nearest]:
    """Return the changes of a solution that fail as submissions do whose mistake has no name.

    If there are none, that is said.
    """
    from autograder.authoring.selftest import mutants_for, nearest
    from autograder.grading.workers import cores

    rows = mutants_for(assignment, results)
    if not rows:
        say("nearest: every mistake that fails a public check has a name")
        return []
    with ProgressReport(plain(), len(rows), quiet=True) as progress:
        jobs = min(cores(), len(rows))
        found = nearest(assignment, results, rows, sandbox, jobs, progress, progress.tell)
    if not found:
        say("nearest: no small change of the solution fails in the same way")
    return found


def write_after_grading(
    console: Console,
    assignment: Assignment,
    out: Path,
    results: Sequence[SubmissionResult],
    regraded: Sequence[Regraded],
) -> None:
    """Write the pages beside the results, and say where; a fault is said and costs no mark."""
    place = out / FOLDER
    try:
        from autograder.reports.pages.writing import write_pages

        earlier = {after.submission: before for before, after in regraded}
        known = about(assignment.name, assignment, datetime.now(UTC))
        words = f"Pages: {write_pages(results, place, known, earlier)}"
    # Marks are made, and pages can be made again: nothing here may cost a mark.
    except Exception as error:
        words = (
            f"the pages could not be written to {place} ({clean(str(error), 500)}): "
            "the marks are as they are; `autograder report` writes pages"
        )
    Printer(console).line(words)


def similar(
    batch: Annotated[Path, typer.Argument(help="A folder with one submission an entry.")],
    assignment: NameOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where similar.csv and a page, both sides beside each other, go."),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=1, max=100, help="The percentage of a component from which on two are similar."
        ),
    ] = 75.0,
    public: Annotated[
        list[Path] | None,
        typer.Option(help="A folder or file of public code that anybody may use; once for each."),
    ] = None,
    root: Root = None,
) -> None:
    """Look for similar submissions; a help for a person, and no mark."""
    # Here, since no other command needs it.
    from autograder.platforms.similar.comparing import find
    from autograder.platforms.similar.listing import print_pairs, write

    folder = find_root(root)
    wanted = load_assignment(folder, assignment_of(folder, assignment))
    console = plain()
    with Stages(console) as stages:
        findings = find(batch, wanted, threshold, public or (), stages)
        written = write(findings, out) if out is not None else []
    print_pairs(console, findings)
    for path in written:
        say(str(path))
