"""Commands of an author: release, stubs, workbook, selftest."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.assignment import find_root, load_assignment
from autograder.authoring import release as releasing
from autograder.authoring import selftest as proving
from autograder.authoring import stubs
from autograder.authoring.matrix import print_report
from autograder.cli.options import Jobs, Root, SandboxChoice, check_sandbox
from autograder.errors import UsageError
from autograder.grading.cores import cores
from autograder.reports.terminal import ProgressReport, safe


def release(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    out: Annotated[Path, typer.Option(help="A new folder for the students.")],
    root: Root = None,
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


def regenerate(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    root: Root = None,
) -> None:
    """Generate the stubs in assignments/ from the solutions."""
    changed = stubs.write(load_assignment(find_root(root), name))
    Console().print(f"written: {', '.join(changed)}" if changed else "all stubs are up to date")


def regenerate_workbook(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    root: Root = None,
) -> None:
    """Generate the workbook in assignments/, nbgrader's carrier notebook."""
    from autograder.authoring import workbook

    changed = workbook.write(load_assignment(find_root(root), name))
    Console().print(f"written: {', '.join(changed)}" if changed else "the workbook is up to date")


def selftest(
    name: Annotated[str, typer.Argument(help="The assignment's name.")],
    jobs: Jobs = None,
    pairs: Annotated[
        int, typer.Option(min=-1, help="Pairs of misconceptions tried a component; -1: all.")
    ] = 8,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    sandbox: SandboxChoice = "auto",
    root: Root = None,
) -> None:
    """Prove the suites: right work keeps every point, every known mistake loses some."""
    assignment = load_assignment(find_root(root), name)
    check_sandbox(sandbox)
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
