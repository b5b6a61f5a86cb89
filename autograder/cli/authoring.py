"""Commands of an author: new, check, release, stubs, workbook, selftest, and nbgrader's courses."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

# Help and completion come at once: what only some commands need is imported where it is used.
from autograder.assignment import GIVEN, load_assignment
from autograder.authoring import KINDS
from autograder.cli.options import Jobs, Name, Root, SandboxChoice, names_of_assignments, warn
from autograder.errors import UsageError
from autograder.project import find_root, usual_assignments
from autograder.reports.terminal import Printer, ProgressReport, Stages, plain, say, say_error
from autograder.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from autograder.grading.workers import Worker

# The word that `new` has an assignment begun by.
_ASSIGNMENT = "assignment"
# How long one look for changes takes.
_LOOK_MS = 300


def new(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR | assignment NAME", help="A new folder, or an assignment's name."
        ),
    ],
    component: Annotated[
        list[str] | None,
        typer.Option(help="A component of the new assignment; once for each, in order."),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", help="Begin the course with this assignment: its name, or its folder's path."
        ),
    ] = None,
    root: Root = None,
) -> None:
    """Begin a course of your own, or add an assignment to it."""
    if what[0] == _ASSIGNMENT:
        if len(what) == 1:
            raise UsageError(
                "the assignment's name is missing: autograder new assignment NAME --component ... "
                f"(for a course in a folder called {_ASSIGNMENT}, give ./{_ASSIGNMENT})"
            )
        _one_word(what[1:], "the name of one assignment")
        if from_ is not None:
            raise UsageError("--from begins a course: autograder new DIR --from NAME")
        _add(find_root(root), what[1], component or [])
    else:
        _one_word(what, f"one folder, or `{_ASSIGNMENT}` and a name")
        if component:
            raise UsageError(
                "--component is for an assignment of a course that is there: "
                f"autograder new {_ASSIGNMENT} NAME --component ..."
            )
        _begin(what[0], from_, root)


def _one_word(words: list[str], wanted: str) -> None:
    if len(words) != 1 or not words[0]:
        raise UsageError(f"autograder new takes {wanted}, not {' '.join(map(repr, words))}")


def _begin(folder: str, from_: str | None, root: Path | None) -> None:
    from autograder.authoring import new as beginning

    if from_ is None and root is not None:
        raise UsageError("--root says where --from finds its assignment: give --from, too")
    made = beginning.new_course(
        Path(folder), None if from_ is None else beginning.source_of(from_, root)
    )
    files = sum(path.is_file() for path in made.root.rglob("*"))
    say(f"{counted(files, 'file')} in {folder}")
    say(f"Next: cd {shlex.quote(folder)} && autograder selftest {made.name}")


def _add(root: Path, name: str, components: list[str]) -> None:
    from autograder.authoring import new as beginning
    from autograder.authoring.stubs import MARK, unfilled

    made = beginning.new_assignment(root, name, components)
    say(f"To be filled in, wherever it says {MARK}:")
    for path in dict.fromkeys(path for path, _ in unfilled(made)):
        say(path.relative_to(root).as_posix(), "  ")
    say(f"Next: autograder stubs {name}, then autograder selftest {name}")


def import_(
    path: Annotated[
        Path,
        typer.Argument(help="A notebook of nbgrader's or otter's, or a folder with pytest files."),
    ],
    name: Annotated[str, typer.Option(help="The new assignment's name.")],
    root: Root = None,
) -> None:
    """Make an assignment of a notebook or a folder of pytest files."""
    from autograder.authoring import importing

    project = find_root(root)
    rows = importing.import_assignment(path, project, name)
    width = max((len(row.what) for row in rows), default=0)
    for outcome in ("carried", "to do", "dropped"):
        for row in (row for row in rows if row.outcome == outcome):
            typer.echo(f"{outcome:<8}  {row.what:<{width}}  {row.why}".rstrip())
    say(f"Next: autograder check {name}")


def release(
    name: Name,
    out: Annotated[Path, typer.Option(help="A new folder for the students.")],
    workbook: Annotated[
        bool, typer.Option("--workbook", help="Add the workbook, for a class without nbgrader.")
    ] = False,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep",
            help="Keep what the known mistakes answer in reference/, for the next release.",
        ),
    ] = False,
    root: Root = None,
) -> None:
    """Write the student's folder: stubs, handout, public suite."""
    from autograder.authoring import release as releasing
    from autograder.authoring import selftest as proving
    from autograder.authoring import stubs

    assignment = load_assignment(find_root(root), name)
    stubs.must_be_filled_in(assignment)
    if drifted := stubs.drifted(assignment):
        raise UsageError(
            f"{', '.join(drifted)} differ from what the solutions give: "
            f"run `autograder stubs {name}` first"
        )
    warn(assignment)
    with Stages(plain()) as stages:
        stages("reading the assignment")
        proving.must_earn_nothing(assignment, stages)
        files = releasing.release(
            assignment,
            out,
            lambda found: releasing.known_numbers(found, stages, keep=keep),
            workbook,
        )
    say(f"{counted(len(files), 'file')} in {out}")


def solutions(
    name: Name,
    out: Annotated[Path, typer.Option(help="A new folder for the model answers.")],
    root: Root = None,
) -> None:
    """Write the model answers, to publish after the deadline.

    Solutions are written without the comments for the selftest; answers.md has the questions of
    the workbook with what a good answer says.
    """
    from autograder.authoring import release as releasing

    files = releasing.write_solutions(load_assignment(find_root(root), name), out)
    say(f"{counted(len(files), 'file')} in {out}, which only you can read until you publish them")


def regenerate(
    name: Name,
    root: Root = None,
) -> None:
    """Generate the stubs in assignments/ from the solutions."""
    from autograder.authoring import stubs

    changed = stubs.write(load_assignment(find_root(root), name))
    say(f"written: {', '.join(changed)}" if changed else "all stubs are up to date")


def regenerate_workbook(
    name: Name,
    root: Root = None,
) -> None:
    """Generate the workbook, a notebook for nbgrader, in assignments/."""
    from autograder.authoring import workbook

    changed = workbook.write(load_assignment(find_root(root), name))
    say(f"written: {', '.join(changed)}" if changed else "the workbook is up to date")


def check(
    name: Name,
    component: Annotated[str, typer.Argument(help="One component; default: all of them.")] = "",
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever one of its files changes.")
    ] = False,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Run solution and stub through the suite, and show what fails."""
    console = plain()
    project = find_root(root)
    if not watch:
        raise typer.Exit(int(not _checked(console, project, name, component, sandbox)))
    # Here and not above: no other command needs it.
    import watchfiles

    folders = [project / place / name for place in ("assignments", "reference")]
    # It begins to watch before the first check, so that no change falls between two.
    looks = watchfiles.watch(
        *folders, rust_timeout=_LOOK_MS, yield_on_timeout=True, raise_interrupt=False
    )
    worker: Worker | None = None
    with_torch = False
    try:
        for number, changes in enumerate(looks):
            if number and not changes:
                continue
            if worker is not None and not (
                all(_is_code(path) for _, path in changes)
                and load_assignment(project, name).uses_torch == with_torch
            ):
                worker.close()
                worker = None
            try:
                _checked(console, project, name, component, sandbox, worker)
            except UsageError as error:
                say_error(error)
            console.print("[dim]waiting for a change; Ctrl-C ends[/dim]")
            if worker is not None:
                worker.close()
            worker, with_torch = _standing_by(project, name, component, sandbox)
    finally:
        if worker is not None:
            worker.close()


def _is_code(path: str) -> bool:
    """Return whether a changed file is read again by a worker that stands by."""
    return path.endswith(".py") and not {*GIVEN} & {*Path(path).parts}


def _standing_by(
    project: Path, name: str, component: str, sandbox: str
) -> tuple[Worker | None, bool]:
    """Start a worker for the next check, and say whether it has torch.

    When a file is saved, the worker is there with torch and the sandbox.
    """
    from autograder.grading.workers import Worker

    try:
        assignment = load_assignment(project, name)
    except UsageError:
        return None, False
    return Worker(assignment, sandbox, component, standby=True), assignment.uses_torch


def _checked(
    console: Console,
    project: Path,
    name: str,
    component: str,
    sandbox: str,
    worker: Worker | None = None,
) -> bool:
    from autograder.authoring import checking

    start = time.monotonic()
    with Stages(console) as stages:
        stages("reading the assignment")
        assignment = load_assignment(project, name)
        found = checking.check(assignment, component, sandbox, stages, worker)
    checking.print_checked(Printer(console), found)
    verdict = "holds" if found.holds else "does not hold"
    what = f"{name} {component}".strip()
    words = f"{what} {verdict} ({found.sandbox}; {time.monotonic() - start:.1f} s)"
    Printer(console).line(words)
    return found.holds


def selftest(
    name: Name,
    jobs: Jobs = None,
    pairs: Annotated[
        int | None,
        typer.Option(
            min=-1, help="Pairs of misconceptions tried a component; -1: all. Default: 8."
        ),
    ] = None,
    mutants: Annotated[
        int | None,
        typer.Option(min=-1, help="Mutants tried a component; -1: all, 0: none. Default: all."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="One pair a component and no mutants, unless said otherwise; little trivial "
            "work; of the misconceptions those alone that no wrong variant shows.",
        ),
    ] = False,
    component: Annotated[
        list[str] | None, typer.Option(help="Prove this component alone; can be given repeatedly.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help="Grade rows of this kind alone, beside the solution; can be given repeatedly: "
            f"{', '.join(KINDS)}."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Grade again what was graded by an earlier selftest.")
    ] = False,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Prove the suites: right work keeps points, mistakes lose some."""
    from autograder.authoring import selftest as proving
    from autograder.authoring.proof import print_report
    from autograder.authoring.rows import rows_of
    from autograder.authoring.stubs import must_be_filled_in
    from autograder.grading.workers import SuiteBroken, cores

    assignment = load_assignment(find_root(root), name)
    must_be_filled_in(assignment)
    warn(assignment)
    console = plain(stderr=json)
    usual_pairs, usual_mutants = (1, 0) if quick else (8, -1)
    pairs, mutants = (
        None if count < 0 else count
        for count in (
            usual_pairs if pairs is None else pairs,
            usual_mutants if mutants is None else mutants,
        )
    )
    kinds = list(dict.fromkeys(kind or []))
    rows = rows_of(assignment, pairs, mutants, component or [], kinds, quick=quick)
    try:
        with ProgressReport(console, len(rows), quiet=True) as progress:
            workers = min(jobs or cores(), len(rows))
            report = proving.run(
                assignment, rows, sandbox, workers, progress, progress.tell, kinds, fresh
            )
            if not quick and report.wrong_variants:
                from autograder.authoring.at_home import compare

                progress.tell("asking what a student is told at home")
                compare(assignment, rows, report)
    except SuiteBroken:
        # It says of all that the solution loses how it loses it, or the same once more.
        holds = _checked(console, assignment.root, name, "", sandbox)
        raise typer.Exit(int(not holds)) from None
    if json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        print_report(console, report)
    raise typer.Exit(int(not report.holds))


def init_course(
    folder: Annotated[Path, typer.Argument(help="A new folder for the course.")],
    assignment: Annotated[
        list[str] | None,
        typer.Option(
            help="An assignment of the course; can be given repeatedly. Default: the project's, "
            "all of them where its pyproject.toml names none.",
            autocompletion=names_of_assignments,
        ),
    ] = None,
    course_id: Annotated[
        str | None, typer.Option(help="nbgrader's name for the course; default: the folder's.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="A group of this machine whose members mark the course together."),
    ] = None,
    root: Root = None,
) -> None:
    """Make a course folder that is ready for nbgrader."""
    from autograder.platforms.nbgrader import course

    project = find_root(root)
    names = list(dict.fromkeys(assignment or usual_assignments(project)))
    found = [load_assignment(project, name) for name in names]
    with Stages(plain()) as stages:
        files = course.init(found, folder, course_id, group, stages)
    warn(found[0], folder)
    say(f"{counted(len(files), 'file')} in {folder}")
    say(f"Graded by {found[0].root}, which {course.named_by(found[0])} names")
    for name in names:
        say(f"Next: cd {folder} && nbgrader generate_assignment {name}")


def check_course(
    folder: Annotated[Path, typer.Argument(help="The course folder.")],
    root: Root = None,
) -> None:
    """List what students or other accounts could read of a course, and what repairs it.

    Exit code 1: there is something to repair.
    """
    from autograder.platforms.nbgrader import course

    found = course.complaints(folder, root)
    for words in found or [f"{folder}: nothing to repair"]:
        say(words)
    raise typer.Exit(int(bool(found)))
