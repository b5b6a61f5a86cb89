"""Commands that write what a platform needs to grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder import private
from autograder.assignment import Assignment, load_assignment
from autograder.authoring.release import must_be_new
from autograder.ci import gradescope as zips
from autograder.ci import written
from autograder.ci.written import Setting
from autograder.cli.options import Name, NameOption, Root
from autograder.errors import UsageError
from autograder.project import find_root
from autograder.reports.terminal import plain, safe

Out = Annotated[Path, typer.Option(help="A new folder; the files are in student/ and teacher/.")]
Repositories = Annotated[
    str | None,
    typer.Option(help="The list's path in the instructor's repository; default: one is begun."),
]
Organisation = Annotated[
    str | None, typer.Option(help="Instead of a list: where students' repositories are.")
]
Prefix = Annotated[
    str | None, typer.Option(help="What the repositories begin with; the rest is the student's id.")
]
Attempts = Annotated[
    int, typer.Option(min=0, help="How many commits of a student are graded a day; 0 for all.")
]
FailUnder = Annotated[
    float, typer.Option(min=0, max=100, help="The percentage below which a commit fails.")
]
Comments = Annotated[bool, typer.Option(help="Comment on commits, beside their status.")]


def github(
    out: Out,
    assignment: NameOption = None,
    repositories: Repositories = None,
    organisation: Organisation = None,
    prefix: Prefix = None,
    attempts: Attempts = 3,
    cron: Annotated[str, typer.Option(help="When it grades, in UTC.")] = "17 3 * * *",
    fail_under: FailUnder = 0.0,
    comments: Comments = True,
    root: Root = None,
) -> None:
    """Write GitHub's workflows: for students' repositories, and for the instructor's."""
    setting = Setting(
        _assignment(assignment, root),
        *(repositories, organisation, prefix, attempts, cron, fail_under, comments),
    )
    _write(out, written.files("github", setting))


def gitlab(
    out: Out,
    assignment: NameOption = None,
    repositories: Repositories = None,
    organisation: Organisation = None,
    prefix: Prefix = None,
    attempts: Attempts = 3,
    fail_under: FailUnder = 0.0,
    comments: Comments = True,
    root: Root = None,
) -> None:
    """Write GitLab's pipelines: for students' projects, and for the instructor's."""
    setting = Setting(
        _assignment(assignment, root),
        *(repositories, organisation, prefix, attempts),
        fail_under=fail_under,
        comments=comments,
    )
    _write(out, written.files("gitlab", setting))


def gradescope(
    name: Name,
    out: Annotated[Path, typer.Option(help="The zip; a new file.")] = Path("autograder.zip"),
    seconds: Annotated[
        int, typer.Option(min=30, help="How long a submission may take; less than Gradescope's.")
    ] = 570,
    root: Root = None,
) -> None:
    """Write the zip that Gradescope grades with. It holds the solutions."""
    data = zips.pack(_assignment(name, root), seconds)
    try:
        with private.umask_of(out.parent), out.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise UsageError(f"--out {out} exists: give a new file") from None
    except OSError as error:
        raise UsageError(f"--out {out} cannot be written: {error.strerror}") from error
    console = plain()
    console.print(f"{safe(str(out), 500)}: {len(data) // 1024} kB")
    console.print("The solutions are in it: upload it to Gradescope, and nowhere else.")


def _assignment(name: str | None, root: Path | None) -> Assignment:
    if name is None:
        raise UsageError("--assignment is missing: what is graded?")
    return load_assignment(find_root(root), name)


def _write(out: Path, files: dict[str, bytes]) -> None:
    must_be_new(out, "give --out a new folder")
    try:
        for name, data in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{out} cannot be written: {error.strerror}") from error
    console = plain()
    for name in files:
        console.print(f"  {safe(str(out / name), 500)}")
    console.print("How to set it up: docs/ci.md")
