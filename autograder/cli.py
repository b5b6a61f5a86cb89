"""The command `autograder`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.assignment import Assignment, find_root, load_assignment
from autograder.authoring import release as releasing
from autograder.authoring import selftest as proving
from autograder.authoring import stubs
from autograder.authoring.matrix import print_report
from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.batch import Batch
from autograder.grading.cores import cores
from autograder.grading.entries import discover
from autograder.nbgrader import course
from autograder.nbgrader.places import project, results_folder
from autograder.reports import disputes, moved
from autograder.reports.terminal import ProgressReport, print_table, safe
from autograder.sandbox import CHOICES

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)

if TYPE_CHECKING:
    from autograder.nbgrader.gradebook import ClassGradebook

courses = typer.Typer(no_args_is_help=True, help="Courses that nbgrader runs.")
app.add_typer(courses, name="course")

# As shells have it: 128 and the number of the signal.
_INTERRUPTED = 130

_Root = Annotated[
    Path | None, typer.Option(help="The folder that holds assignments/ and reference/.")
]
_Jobs = Annotated[int | None, typer.Option(min=1, help="Workers side by side; default: the cores.")]
_Sandbox = Annotated[
    str, typer.Option(help="auto, tier1, tier2, or none (student code is not isolated).")
]


@app.command()
def grade(
    batch: Annotated[Path, typer.Argument(help="A folder with one submission an entry.")],
    assignment: Annotated[str | None, typer.Option(help="The assignment's name.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where the results go.")] = None,
    jobs: _Jobs = None,
    resume: Annotated[bool, typer.Option(help="Keep the results of unchanged submissions.")] = True,
    sandbox: _Sandbox = "auto",
    gradebook: Annotated[
        str | None,
        typer.Option(help="nbgrader's gradebook (a URL): mark a course's submitted/ in it, too."),
    ] = None,
    root: _Root = None,
) -> None:
    """Grade every submission of a batch."""
    if gradebook is not None:
        raise typer.Exit(_mark(batch, gradebook, assignment, out, jobs, resume, sandbox, root))
    for option, value in (("--assignment", assignment), ("--out", out)):
        if value is None:
            raise UsageError(f"{option} is missing: give it, or --gradebook for a course")
    assert assignment is not None
    assert out is not None
    found = load_assignment(find_root(root), assignment)
    raise typer.Exit(_grade(found, batch, out, jobs, resume, sandbox))


@app.command()
def explain(
    result: Annotated[Path, typer.Argument(help="A result file, DIR/results/<submission>.json.")],
    criterion: Annotated[str, typer.Argument(help="The criterion's id, as the result has it.")],
    submission: Annotated[
        Path | None, typer.Option(help="Where the submission is; default: where it was graded.")
    ] = None,
    sandbox: _Sandbox = "auto",
    root: _Root = None,
) -> None:
    """Run one criterion again and show the instructor the call and both answers."""
    _check_sandbox(sandbox)
    console = Console(soft_wrap=True)
    raise typer.Exit(disputes.settle(console, result, criterion, root, sandbox, submission))


@app.command()
def release(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    out: Annotated[Path, typer.Option(help="A new folder for the students.")],
    root: _Root = None,
) -> None:
    """Write the student's folder: stubs, handout, public suite."""
    console = Console(soft_wrap=True)
    assignment = load_assignment(find_root(root), name)
    drifted = stubs.drifted(assignment)
    if drifted:
        raise UsageError(
            f"{', '.join(drifted)} differ from what the solutions give: "
            f"run `autograder stubs {name}` first"
        )
    # Here and not above: it brings torch along, and no other command needs that in this process.
    from autograder.authoring.known_numbers import table

    files = releasing.release(assignment, out, table)
    console.print(f"{len(files)} files in {safe(str(out), 500)}", highlight=False)


@app.command(name="stubs")
def regenerate(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    root: _Root = None,
) -> None:
    """Generate the stubs in assignments/ from the solutions."""
    changed = stubs.write(load_assignment(find_root(root), name))
    Console().print(f"written: {', '.join(changed)}" if changed else "all stubs are up to date")


@app.command(name="workbook")
def regenerate_workbook(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    root: _Root = None,
) -> None:
    """Generate the workbook in assignments/, nbgrader's carrier notebook."""
    from autograder.authoring import workbook

    changed = workbook.write(load_assignment(find_root(root), name))
    Console().print(f"written: {', '.join(changed)}" if changed else "the workbook is up to date")


@courses.command()
def init(
    folder: Annotated[Path, typer.Argument(help="A new folder for the course.")],
    assignment: Annotated[str, typer.Option(help="The assignment.")] = "transformer_block",
    course_id: Annotated[
        str | None, typer.Option(help="nbgrader's name for the course; default: the folder's.")
    ] = None,
    root: _Root = None,
) -> None:
    """Make a course folder that is ready for nbgrader."""
    console = Console(soft_wrap=True)
    found = load_assignment(_project(root), assignment)
    files = course.init(found, folder, course.course_id_of(course_id, folder))
    where = safe(str(folder), 500)
    console.print(f"{len(files)} files in {where}", highlight=False)
    if not course.is_found(found):
        console.print(f"export GRADEFORMER_ROOT={safe(str(found.root), 500)}", highlight=False)
    console.print(f"Next: cd {where} && nbgrader generate_assignment {found.name}", highlight=False)


@app.command()
def selftest(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    jobs: _Jobs = None,
    pairs: Annotated[
        int, typer.Option(min=-1, help="Pairs of misconceptions tried a component; -1: all.")
    ] = 8,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    sandbox: _Sandbox = "auto",
    root: _Root = None,
) -> None:
    """Prove the suites: right work keeps every point, every known mistake loses some."""
    assignment = load_assignment(find_root(root), name)
    _check_sandbox(sandbox)
    console = Console(stderr=json, soft_wrap=True)
    rows = list(proving.rows_of(assignment, None if pairs < 0 else pairs))
    with (
        tempfile.TemporaryDirectory(prefix="gradeformer-") as folder,
        ProgressReport(console, len(rows), quiet=True) as progress,
    ):
        workers = min(jobs or cores(), len(rows))
        report = proving.run(assignment, rows, Path(folder), sandbox, workers, progress)
    if json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        print_report(console, report)
    raise typer.Exit(int(not report.holds))


@app.command()
def demo(jobs: _Jobs = None, sandbox: _Sandbox = "auto", root: _Root = None) -> None:
    """Grade the made-up class that comes with the project."""
    folder = find_root(root)
    batch = folder / "tests" / "classes" / "demo"
    if not batch.is_dir():
        raise UsageError(f"{batch} does not exist: the demo class is in the project's repository")
    out = folder / "demo-results"
    shutil.rmtree(out, ignore_errors=True)
    assignment = load_assignment(folder, "transformer_block")
    raise typer.Exit(_grade(assignment, batch, out, jobs, True, sandbox))


def _project(root: Path | None) -> Path:
    """Return the project, also for who stands in a course folder."""
    try:
        return find_root(root)
    except UsageError:
        if root is not None:
            raise
        return project()


def _mark(
    batch: Path,
    url: str,
    name: str | None,
    out: Path | None,
    jobs: int | None,
    resume: bool,
    sandbox: str,
    root: Path | None,
) -> int:
    """Grade the submissions of a course and mark them in its gradebook."""
    folder = _project(root)
    home = course.course_of(batch)
    found = load_assignment(folder, name or course.assignment_in(batch, folder))
    place = out or results_folder(home, found.name)
    book = course.gradebook(home, url, found)
    return _grade(found, batch, place, jobs, resume, sandbox, book)


def _grade(
    assignment: Assignment,
    batch: Path,
    out: Path,
    jobs: int | None,
    resume: bool,
    sandbox: str,
    book: ClassGradebook | None = None,
) -> int:
    _check_sandbox(sandbox)
    console = Console(soft_wrap=True)
    find = discover if book is None else course.handed_in
    entries = find(batch, assignment.name)
    for name in course.passed_over(batch, assignment.name) if book is not None else ():
        console.print(
            f"not marked: {safe(name)}; nbgrader wants it unpacked, as "
            f"<student>/{assignment.name}/",
            highlight=False,
        )
    store.make_writable(out)
    workers = min(jobs or cores(), len(entries))
    grader = Batch(assignment, out, sandbox, workers, resume)
    try:
        console.print(f"sandbox {grader.start()}", highlight=False)
        with ProgressReport(console, len(entries)) as progress:
            complete = True
            if book is None:
                found = grader.run(entries, progress)
            else:
                found, complete = book.grade(grader, entries, progress, not resume)
    except KeyboardInterrupt:
        console.print("stopped: what is done is kept; run the same command to go on")
        moved.report(console, out, grader.regraded)
        return _INTERRUPTED
    finally:
        grader.close()
    components = list(assignment.totals)
    table = store.write_table(out, found, components)
    print_table(console, found, components)
    moved.report(console, out, grader.regraded)
    console.print(
        f"Results: {safe(str(table), 500)} and {safe(str(out), 500)}/results/", highlight=False
    )
    if not complete:
        console.print("some marks are not in the gradebook; run the same command to try again")
    return int(not complete or any(result.status == "error" for result in found))


def _check_sandbox(sandbox: str) -> None:
    if sandbox not in CHOICES:
        raise UsageError(f"--sandbox {sandbox!r} is unknown; choose one of {', '.join(CHOICES)}")


def main() -> None:
    """Run the command; what a user can repair is one sentence and exit code 2."""
    try:
        app()
    except UsageError as error:
        Console(stderr=True, soft_wrap=True).print(
            f"autograder: {safe(str(error), 2000)}", highlight=False
        )
        raise SystemExit(2) from None
