"""Commands for courses that nbgrader runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.cli.options import NameOption, Root
from autograder.nbgrader import course
from autograder.project import assignment_of, find_root
from autograder.reports.terminal import safe


def init(
    folder: Annotated[Path, typer.Argument(help="A new folder for the course.")],
    assignment: NameOption = None,
    course_id: Annotated[
        str | None, typer.Option(help="nbgrader's name for the course; default: the folder's.")
    ] = None,
    root: Root = None,
) -> None:
    """Make a course folder that is ready for nbgrader."""
    console = Console(soft_wrap=True)
    project = find_root(root)
    found = load_assignment(project, assignment_of(project, assignment))
    files = course.init(found, folder, course.course_id_of(course_id, folder))
    where = safe(str(folder), 500)
    console.print(f"{len(files)} files in {where}", highlight=False)
    named = course.named_by(found)
    console.print(f"Graded by {safe(str(found.root), 500)}, which {named} names", highlight=False)
    console.print(f"Next: cd {where} && nbgrader generate_assignment {found.name}", highlight=False)
