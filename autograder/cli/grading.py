"""Commands that grade: a batch, a course's gradebook, the demo; and what explains a mark."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from autograder import private
from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import write_class
from autograder.cli.exposed import warn
from autograder.cli.options import Jobs, NameOption, Root, SandboxChoice
from autograder.cli.running import Settings, grade_class, grade_one
from autograder.cluster.schedulers import Wanted, wanted
from autograder.errors import UsageError
from autograder.nbgrader import course
from autograder.nbgrader.places import results_folder
from autograder.project import assignment_of, find_root
from autograder.reports import disputes
from autograder.reports.terminal import plain


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
    how = Settings(sandbox, jobs, resume, _cluster_of(cluster, jobs, one), wait)
    if one and (gradebook is not None or jobs is not None):
        raise UsageError("--one grades a single submission: leave out --gradebook and --jobs")
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
        warn(found, out)
    if out is None or one:
        raise typer.Exit(grade_one(found, batch, out, how, fail_under))
    raise typer.Exit(grade_class(found, batch, out, how))


def _cluster_of(cluster: str | None, jobs: int | None, one: bool) -> Wanted | None:
    """Return what `--cluster` names.

    Raises:
        UsageError: it is no cluster, or other options do not go with one.
    """
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
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Run one criterion again and show the call and both answers."""
    raise typer.Exit(disputes.settle(plain(), result, criterion, root, sandbox, submission))


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
    raise typer.Exit(grade_class(found, out / "class", out, Settings(sandbox, jobs, True)))


def _mark(
    batch: Path, url: str, name: str | None, out: Path | None, how: Settings, root: Path | None
) -> int:
    """Grade the submissions of a course and mark them in its gradebook."""
    home = course.course_of(batch)
    folder = course.project_of(home, root)
    found = load_assignment(folder, name or course.assignment_in(batch, folder))
    place = out or results_folder(home, found.name)
    warn(found, home, place)
    return grade_class(found, batch, place, how, course.gradebook(home, url, found))
