"""Commands that grade: a class, one submission, a course's gradebook, the demo; and explain."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder import private
from autograder.assignment import Assignment, load_assignment
from autograder.cli.options import Jobs, NameOption, Root, SandboxChoice, warn
from autograder.cli.reporting import nearest_to, write_after_grading
from autograder.errors import ExitCode, UsageError
from autograder.grading import accepted, store
from autograder.grading.batch import Batch, Regraded
from autograder.grading.entries import Entry, Listing, discover, single
from autograder.grading.lock import alone
from autograder.grading.messages import GradeJob, Unchanged
from autograder.grading.workers import CannotGrade, Tell, cores, slow_build
from autograder.judge.begin import begin
from autograder.platforms.cluster.schedulers import Wanted, wanted
from autograder.platforms.nbgrader.collected import exchange_problem, results_folder, why_not
from autograder.project import FOLDERS, assignment_of, find_root
from autograder.reports import disputes, moved
from autograder.reports.roster import read_roster
from autograder.reports.score_table import (
    print_held,
    print_left_out,
    print_single,
    print_table,
)
from autograder.reports.shown import shown
from autograder.reports.terminal import ProgressReport, Stages, plain, say
from autograder.results import SubmissionResult
from autograder.sandbox.scratch import temporary_folder
from autograder.text import clean

if TYPE_CHECKING:
    from autograder.platforms.nbgrader.gradebook import ClassGradebook


@dataclass(frozen=True)
class Settings:
    """How a class is graded."""

    sandbox: str
    jobs: int | None  # workers of this machine; None for its cores
    resume: bool  # keep the results of unchanged submissions
    cluster: Wanted | None = None  # grades instead of this machine's workers
    wait: bool = False  # for another run that grades into the same folder
    roster: Path | None = None  # gives the entries of a download their ids


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
    roster: Annotated[
        Path | None,
        typer.Option(help="A CSV file of the class: gives the entries of a download their ids."),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait while somebody else grades into the same folder."),
    ] = False,
    root: Root = None,
) -> None:
    """Grade every submission of a batch."""
    how = Settings(sandbox, jobs, resume, _cluster_of(cluster, jobs, one), wait, roster)
    if roster is not None and (one or gradebook is not None):
        raise UsageError("--roster names the entries of a class: leave out --one and --gradebook")
    for option, given in (("--gradebook", gradebook), ("--jobs", jobs)):
        if one and given is not None:
            raise UsageError(f"--one grades a single submission: leave out {option}")
    if fail_under is not None and not one:
        raise UsageError("--fail-under goes with --one, which grades a single submission")
    if gradebook is not None:
        raise typer.Exit(_mark(batch, gradebook, assignment, out, how, root))
    if assignment is None:
        raise UsageError("--assignment is missing: give it, or --gradebook for a course")
    if out is None and not one:
        raise UsageError("--out is missing: give it, or --gradebook for a course")
    found = load_assignment(find_root(root), assignment)
    if out is not None:
        _must_be_apart(found, batch, out)
        warn(found, out)
    if out is None or one:
        raise typer.Exit(grade_one(found, batch, out, how, fail_under))
    raise typer.Exit(grade_class(found, batch, out, how))


def _must_be_apart(assignment: Assignment, batch: Path, out: Path) -> None:
    """See that results and submissions are not taken for one another.

    Raises:
        UsageError: they could be.
    """
    place, given = out.resolve(), batch.resolve()
    if place == given or given in place.parents:
        raise UsageError(
            f"--out {out} lies in {batch}: the next run would take the results for a submission; "
            "name a folder elsewhere"
        )
    for folder in (assignment.root / name for name in FOLDERS):
        if place == folder or folder in place.parents:
            raise UsageError(f"--out {out} lies in {folder}: name a folder outside of it")
    if store.holds_results(batch):
        raise UsageError(
            f"{batch} holds results, not submissions: name the folder with one submission an entry"
        )


def _cluster_of(cluster: str | None, jobs: int | None, one: bool) -> Wanted | None:
    """Return what `--cluster` names; refuse options that do not go with a cluster."""
    if cluster is None:
        return None
    if one:
        raise UsageError("--one grades a single submission on this machine: leave out --cluster")
    if jobs is not None:
        raise UsageError(
            "--jobs is the number of this machine's workers: leave it out with --cluster, whose "
            "Dask workers say how many slots they have"
        )
    return wanted(cluster)


def explain(
    result: Annotated[Path, typer.Argument(help="A result file, DIR/results/<submission>.json.")],
    criterion: Annotated[str, typer.Argument(help="The criterion's id, as the result has it.")],
    submission: Annotated[
        Path | None, typer.Option(help="Where the submission is; default: where it was graded.")
    ] = None,
    nearest: Annotated[
        bool,
        typer.Option(
            "--nearest",
            help="If its mistake has no name, compare it with small changes of your solution.",
        ),
    ] = False,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Run one criterion again and show the call and both answers."""
    code = disputes.settle(plain(), result, criterion, root, sandbox, submission)
    if nearest:
        _print_nearest(store.read_file(result), criterion, root, sandbox)
    raise typer.Exit(code)


def _print_nearest(
    result: SubmissionResult, criterion: str, root: Path | None, sandbox: str
) -> None:
    """Say which changes of a solution fail as the component of a criterion does."""
    name = next(n for n, c in result.components.items() if criterion in (k.id for k in c.criteria))
    component = result.components[name]
    found = nearest_to(
        load_assignment(find_root(root), result.assignment),
        [result.model_copy(update={"components": {name: component}})],
        sandbox,
    )
    for one in found:
        say(f"nearest: {name} {one.words}")


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
    from autograder.authoring.wrong_variants import write_class

    batch = classes / found.name
    if not batch.is_dir():
        raise UsageError(
            f"there is no class for {found.name}: name an assignment that has one in {classes}"
        )
    out = folder / "demo-results" / found.name
    shutil.rmtree(out, ignore_errors=True)
    private.make_folder(out)
    write_class(found, folder, batch, out / "class")
    raise typer.Exit(grade_class(found, out / "class", out, Settings(sandbox, jobs, True)))


def _mark(
    batch: Path, url: str, name: str | None, out: Path | None, how: Settings, root: Path | None
) -> int:
    """Grade the submissions of a course and mark them in its gradebook."""
    from autograder.platforms.nbgrader import course

    home = course.course_of(batch)
    folder = course.project_of(home, root)
    found = load_assignment(folder, name or course.assignment_in(batch, folder))
    place = out or results_folder(home, found.name)
    warn(found, home, place)
    # Only now: nbgrader may not be installed.
    from autograder.platforms.nbgrader.gradebook import ClassGradebook

    return grade_class(found, batch, place, how, ClassGradebook(home, url, found))


def grade_class(
    assignment: Assignment,
    batch: Path,
    out: Path,
    how: Settings,
    book: ClassGradebook | None = None,
) -> int:
    """Grade a batch into the folder `out`, and into a gradebook; return the exit code."""
    console = plain()
    if book is None:
        known = read_roster(how.roster).id_of if how.roster is not None else None
        listing = discover(batch, assignment.name, list(assignment.totals), known)
        passed_over: Sequence[str] = ()
    else:
        from autograder.platforms.nbgrader import course

        passed_over = course.passed_over(batch, assignment.name)
        listing = course.handed_in(batch, assignment.name)
    if problem := exchange_problem(batch.absolute().parent):
        say(problem)
    refused = {entry.id: why for entry in listing.entries if (why := why_not(entry.path))}
    for student, why in refused.items():
        say(f"not marked: {clean(student)}: {clean(why, 1000)}")
    entries = [entry for entry in listing.entries if entry.id not in refused]
    listing = dataclasses.replace(listing, entries=entries)
    if not listing.rows:
        print_left_out(console, listing, [])
        return ExitCode.MISUSED
    for name in passed_over:
        say(f"not marked: {clean(name)}")
    # A course's gradebook is marked by one at a time, wherever the results go.
    folders = {out.resolve(): out}
    if book is not None:
        folders.setdefault(book.results.resolve(), book.results)
    with contextlib.ExitStack() as stack:
        for folder in folders.values():
            store.make_writable(folder)
            stack.enter_context(alone(folder, how.wait, Stages(console)))
        code = _graded(console, assignment, out, how, book, listing)
    return code or int(bool(refused))


def _graded(
    console: Console,
    assignment: Assignment,
    out: Path,
    how: Settings,
    book: ClassGradebook | None,
    listing: Listing,
) -> int:
    """Grade a class into a folder that is ours for as long, and report; return the exit code."""
    entries = listing.rows
    regraded: Sequence[Regraded] = []
    # Whether all marks that should be in a gradebook are there.
    complete = True
    try:
        with contextlib.ExitStack() as stack:
            with Stages(console) as stages:
                grader, workers, words = _started(assignment, out, how, entries, stages, stack)
            regraded = grader.regraded
            say(words)
            # Not before: a grader that cannot start says so in one line.
            if workers and (slow := slow_build()):
                say(slow, stderr=True)
            with ProgressReport(console, len(entries), workers=workers) as progress:
                if book is None:
                    found = grader.run(entries, progress, whole=False)
                else:
                    found, complete = book.grade(grader, entries, progress, not how.resume)
    except KeyboardInterrupt:
        say("stopped: what is done is kept; run the same command to go on")
        moved.report(console, out, regraded)
        return ExitCode.INTERRUPTED
    components = list(assignment.totals)
    table = store.write_table(out, found, components)
    print_table(console, found, components)
    moved.report(console, out, regraded)
    for name in sorted(grader.damaged):
        say(f"graded again: {clean(name)}: its result file was not valid")
    say(f"Results: {table} and {out}/results/")
    if not complete:
        say("some marks are not in the gradebook; run the same command to try again")
    written = store.stored({entry.id: store.path_of(out, entry.id) for entry in entries})
    write_after_grading(console, assignment, out, written, regraded)
    print_left_out(console, listing, found)
    print_held(console, out, found)
    if listing.doubled:
        return ExitCode.MISUSED
    faults = any(result.status == "error" for result in found)
    return ExitCode.NOT_ALL if faults or not complete else ExitCode.DONE


def _started(
    assignment: Assignment,
    out: Path,
    how: Settings,
    entries: Sequence[Entry],
    tell: Tell,
    stack: contextlib.ExitStack,
) -> tuple[Batch, int, str]:
    """Start a batch, which `stack` ends; where no entry has changed, no worker is started.

    Returns:
        The batch, how many it grades side by side, and in words how student code is isolated.
    """
    count = len(entries)
    if how.resume:
        batch = Batch(assignment, out, how.sandbox, 1, True, lambda job: Unchanged())
        stack.callback(batch.close)
        if all(entry.doubled or _is_kept(assignment, batch.job(entry)) for entry in entries):
            return batch, 0, "nothing has changed: no worker is started"
    if how.cluster is None:
        workers = min(how.jobs or cores(), count)
        batch = Batch(assignment, out, how.sandbox, workers, how.resume)
        stack.callback(batch.close)
        return batch, workers, f"sandbox {batch.start(tell)}"
    # It brings Dask along.
    from autograder.platforms.cluster.client import Grader

    tell("reaching the cluster")
    far = Grader(how.cluster, assignment, how.sandbox)
    stack.callback(far.close)
    isolation = far.start(tell)
    store.sweep(out)
    threads = min(far.threads, count)
    batch = Batch(assignment, out, how.sandbox, threads, how.resume, far.grade)
    stack.callback(batch.close)
    return batch, far.slots, f"sandbox {isolation}"


def _is_kept(assignment: Assignment, job: GradeJob) -> bool:
    """Return whether an earlier result is of this very submission, as a worker would find."""
    if job.known is None or not job.place.exists():
        return False
    try:
        return isinstance(begin(assignment, job, ""), Unchanged)
    except Exception:
        # A worker will say what is wrong with it.
        return False


def grade_one(
    assignment: Assignment, path: Path, out: Path | None, how: Settings, fail_under: float | None
) -> int:
    """Grade a folder or an archive as one submission and return the exit code.

    The result is kept in `out`, if anywhere. Below `fail_under` percent of the points it fails.
    """
    entry = single(path, assignment.name, list(assignment.totals))
    if why := why_not(entry.path):
        raise UsageError(f"{entry.id} is not marked: {why}")
    console = plain()
    with (
        contextlib.ExitStack() as stack,
        temporary_folder() as nowhere,
    ):
        place = out or nowhere
        store.make_writable(place)
        stack.enter_context(alone(place, how.wait, Stages(console)))
        grader = Batch(assignment, place, how.sandbox, 1, how.resume)
        try:
            with Stages(console) as stages:
                stages(f"grading with {grader.start(stages)}")
                result, _ = grader.result(entry)
        except CannotGrade as reason:
            say(f"cannot grade: {clean(str(reason), 2000)}")
            return ExitCode.FAULT
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
        finally:
            grader.close()
    if result.status == "error":
        # Not the student's business, but that of the person who runs it.
        say(result.message, stderr=True)
    print_single(console, shown(result, assignment.feedback, datetime.now(UTC)))
    if out is not None:
        say(f"Result: {store.path_of(out, result.submission)}")
        if result.held:
            say(f"accept with `{accepted.command(out, result.submission)}`, then grade again")
    return _code(result, fail_under)


def _code(result: SubmissionResult, fail_under: float | None) -> int:
    if result.score is None:
        return ExitCode.FAULT
    reached = 100 * result.score / result.max_score
    # A sum of shares is as near to a round number as floats come.
    below = fail_under is not None and reached < fail_under - 1e-9
    return (
        ExitCode.NOT_ALL if below or result.held or result.status == "rejected" else ExitCode.DONE
    )
