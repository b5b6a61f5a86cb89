"""Commands for courses that nbgrader runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.cli.exposed import warn
from autograder.cli.options import Root, names_of_assignments
from autograder.nbgrader import course
from autograder.project import find_root, usual_assignments
from autograder.reports.terminal import Stages, safe


def init(
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
    console = Console(soft_wrap=True)
    project = find_root(root)
    names = list(dict.fromkeys(assignment or usual_assignments(project)))
    found = [load_assignment(project, name) for name in names]
    named = course.course_id_of(course_id, folder)
    with Stages(console) as stages:
        files = course.init(found, folder, named, group, stages)
    warn(found[0], folder)
    where = safe(str(folder), 500)
    console.print(f"{len(files)} files in {where}", highlight=False)
    by = course.named_by(found[0])
    console.print(f"Graded by {safe(str(found[0].root), 500)}, which {by} names", highlight=False)
    for name in names:
        console.print(f"Next: cd {where} && nbgrader generate_assignment {name}", highlight=False)


def check(
    folder: Annotated[Path, typer.Argument(help="The course folder.")],
    root: Root = None,
) -> None:
    """List what students or other accounts could read of a course, and what repairs it.

    Exit code 1: there is something to repair.
    """
    console = Console(soft_wrap=True)
    found = course.complaints(course.must_be_course(folder), root)
    for words in found:
        console.print(safe(words, 4000), highlight=False)
    if not found:
        console.print(f"{safe(str(folder), 500)}: nothing to repair", highlight=False)
    raise typer.Exit(int(bool(found)))
