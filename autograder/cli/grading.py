"""Commands that grade: a batch, a course's gradebook, the demo; and what explains a mark."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder import private
from autograder.assignment import Assignment, load_assignment
from autograder.authoring.made_up import write_class
from autograder.cli.exposed import warn
from autograder.cli.one import grade_one
from autograder.cli.options import Jobs, NameOption, Root, SandboxChoice, check_sandbox
from autograder.cli.pages import write_after_grading
from autograder.cli.starting import Settings, cluster_of, start
from autograder.cluster.schedulers import Wanted
from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.batch import Regraded
from autograder.grading.entries import Listing, discover
from autograder.grading.interpreter import slow_build
from autograder.grading.lock import alone
from autograder.nbgrader import course
from autograder.nbgrader.collected import exchange_problem, why_not
from autograder.nbgrader.places import results_folder
from autograder.project import assignment_of, find_root
from autograder.reports import disputes, moved
from autograder.reports.score_table import print_held, print_left_out, print_table
from autograder.reports.terminal import ProgressReport, Stages, safe

if TYPE_CHECKING:
    from autograder.nbgrader.gradebook import ClassGradebook

# As shells have it: 128 and the number of the signal.
_INTERRUPTED = 130
_MISUSED = 2


def grade(
    batch: Annotated[
        Path,
        typer.Argument(help="A folder with one submission an entry; with --one, one submission."),
    ],
    assignment: NameOption = None,
    out: Annotated[Path | None, typer.Option(help="Where the results go.")] = None,
    jobs: Jobs = None,
    resume: Annotated[bool, typer.Option(help="Keep the results of unchanged submissions.")] = True,
    sandbox: SandboxChoice = "auto",
    gradebook: Annotated[
        str | None,
        typer.Option(help="nbgrader's gradebook (a URL): mark a course's submitted/ in it, too."),
    ] = None,
    one: Annotated[
        bool,
        typer.Option(
            "--one",
            help="Grade one submission, a folder or an archive, and print what its student may "
            "see. Exit code 1: rejected, held for review, or below --fail-under; 3: the grader is "
            "at fault.",
        ),
    ] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="With --one: the percentage that must be reached."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Grade on a Dask cluster: local:N (processes here), tcp://HOST:PORT or "
            "tls://HOST:PORT (its scheduler), or a .toml file for Slurm."
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait while somebody else grades into the same folder."),
    ] = False,
    root: Root = None,
) -> None:
    """Grade every submission of a batch."""
    wanted = cluster_of(cluster, jobs, one)
    if one and (gradebook is not None or jobs is not None):
        raise UsageError("--one grades a single submission: leave out --gradebook and --jobs")
    if fail_under is not None and not one:
        raise UsageError("--fail-under goes with --one, which grades a single submission")
    if gradebook is not None:
        raise typer.Exit(
            _mark(batch, gradebook, assignment, out, jobs, resume, sandbox, wanted, wait, root)
        )
    if assignment is None:
        raise UsageError("--assignment is missing: give it, or --gradebook for a course")
    if one:
        check_sandbox(sandbox)
        found = load_assignment(find_root(root), assignment)
        raise typer.Exit(grade_one(found, batch, out, resume, sandbox, fail_under, wait))
    if out is None:
        raise UsageError("--out is missing: give it, or --gradebook for a course")
    found = load_assignment(find_root(root), assignment)
    warn(found, out)
    raise typer.Exit(_grade(found, batch, Settings(out, sandbox, jobs, resume, wanted, wait)))


def explain(
    result: Annotated[Path, typer.Argument(help="A result file, DIR/results/<submission>.json.")],
    criterion: Annotated[str, typer.Argument(help="The criterion's id, as the result has it.")],
    submission: Annotated[
        Path | None, typer.Option(help="Where the submission is; default: where it was graded.")
    ] = None,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Run one criterion again and show the call and both answers."""
    check_sandbox(sandbox)
    console = Console(soft_wrap=True)
    raise typer.Exit(disputes.settle(console, result, criterion, root, sandbox, submission))


def demo(
    assignment: NameOption = None,
    jobs: Jobs = None,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Grade the made-up class that comes with the project."""
    wanted = "the demo grades a made-up class that only gradeformer's own repository has"
    try:
        folder = find_root(root)
    except UsageError as error:
        raise UsageError(f"{wanted}: {error}") from error
    # Its place is looked for first: what is missing anywhere else is the class.
    classes = folder / "tests" / "classes"
    if not classes.is_dir():
        raise UsageError(
            f"{wanted}, and there is no {classes}: run it in a checkout, or name one with --root"
        )
    found = load_assignment(folder, assignment_of(folder, assignment))
    batch = classes / found.name
    if not batch.is_dir():
        raise UsageError(
            f"there is no class for {found.name}: name an assignment that has one in {classes}"
        )
    out = folder / "demo-results"
    shutil.rmtree(out, ignore_errors=True)
    private.make_folder(out)
    write_class(found, folder, batch, out / "class")
    raise typer.Exit(_grade(found, out / "class", Settings(out, sandbox, jobs, True)))


def _mark(
    batch: Path,
    url: str,
    name: str | None,
    out: Path | None,
    jobs: int | None,
    resume: bool,
    sandbox: str,
    cluster: Wanted | None,
    wait: bool,
    root: Path | None,
) -> int:
    """Grade the submissions of a course and mark them in its gradebook."""
    home = course.course_of(batch)
    folder = course.project_of(home, root)
    found = load_assignment(folder, name or course.assignment_in(batch, folder))
    place = out or results_folder(home, found.name)
    warn(found, home, place)
    settings = Settings(place, sandbox, jobs, resume, cluster, wait)
    return _grade(found, batch, settings, course.gradebook(home, url, found))


def _grade(
    assignment: Assignment,
    batch: Path,
    settings: Settings,
    book: ClassGradebook | None = None,
) -> int:
    check_sandbox(settings.sandbox)
    out = settings.out
    console = Console(soft_wrap=True)
    listing = Listing(course.handed_in(batch, assignment.name)) if book is not None else None
    listing = listing or discover(batch, assignment.name, list(assignment.totals))
    if problem := exchange_problem(batch.absolute().parent):
        console.print(safe(problem, 1000), highlight=False)
    listing, refused = _as_collected(console, listing)
    entries = listing.entries
    if not entries:
        print_left_out(console, listing, [])
        return _MISUSED
    for name in course.passed_over(batch, assignment.name) if book is not None else ():
        console.print(f"not marked: {safe(name)}", highlight=False)
    # A course's gradebook is marked by one at a time, wherever the results go.
    folders = {out.resolve(): out}
    if book is not None:
        folders.setdefault(book.results.resolve(), book.results)
    with contextlib.ExitStack() as stack:
        for folder in folders.values():
            store.make_writable(folder)
            stack.enter_context(alone(folder, settings.wait, Stages(console)))
        return _graded(assignment, batch, settings, listing, book, console) or int(refused)


def _graded(
    assignment: Assignment,
    batch: Path,
    settings: Settings,
    listing: Listing,
    book: ClassGradebook | None,
    console: Console,
) -> int:
    """Grade a class into a folder that is ours for as long, and say what came of it."""
    out, entries = settings.out, listing.entries
    regraded: Sequence[Regraded] = []
    try:
        with contextlib.ExitStack() as stack:
            with Stages(console) as stages:
                started = start(assignment, settings, entries, stages, stack)
            grader, workers = started.batch, started.workers
            regraded = grader.regraded
            console.print(started.words, highlight=False)
            # Not before: what cannot start says so in one line.
            if workers and (slow := slow_build()):
                Console(stderr=True, soft_wrap=True).print(slow, highlight=False)
            with ProgressReport(console, len(entries), workers=workers) as progress:
                complete = True
                if book is None:
                    found = grader.run(entries, progress, whole=False)
                else:
                    found, complete = book.grade(grader, entries, progress, not settings.resume)
    except KeyboardInterrupt:
        console.print("stopped: what is done is kept; run the same command to go on")
        moved.report(console, out, regraded)
        return _INTERRUPTED
    components = list(assignment.totals)
    table = store.write_table(out, found, components)
    print_table(console, found, components)
    moved.report(console, out, regraded)
    console.print(
        f"Results: {safe(str(table), 500)} and {safe(str(out), 500)}/results/", highlight=False
    )
    if not complete:
        console.print("some marks are not in the gradebook; run the same command to try again")
    files = [store.path_of(out, entry.id) for entry in entries]
    written = store.Stored(files, [entry.id for entry in entries])
    write_after_grading(console, assignment, out, written, regraded)
    print_left_out(console, listing, found)
    print_held(console, out, found)
    if listing.doubled:
        return _MISUSED
    return int(not complete or any(result.status == "error" for result in found))


def _as_collected(console: Console, listing: Listing) -> tuple[Listing, bool]:
    """Return what is marked of a batch, and whether anything of a course is refused; say what."""
    refused = {entry.id: why for entry in listing.entries if (why := why_not(entry.path))}
    for student, why in refused.items():
        console.print(f"not marked: {safe(student)}: {safe(why, 1000)}", highlight=False)
    entries = [entry for entry in listing.entries if entry.id not in refused]
    return dataclasses.replace(listing, entries=entries), bool(refused)
