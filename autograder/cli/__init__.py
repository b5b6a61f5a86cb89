"""The command `autograder`."""

from __future__ import annotations

import typer
from rich.console import Console

from autograder.cli.authoring import check, regenerate, regenerate_workbook, release, selftest
from autograder.cli.courses import init
from autograder.cli.grading import demo, explain, grade
from autograder.cli.new import new
from autograder.errors import UsageError
from autograder.reports.terminal import safe

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
courses = typer.Typer(no_args_is_help=True, help="Courses that nbgrader runs.")
app.add_typer(courses, name="course")

for command in (new, grade, explain, release, check, selftest, demo):
    app.command()(command)
app.command(name="stubs")(regenerate)
app.command(name="workbook")(regenerate_workbook)
courses.command()(init)


def main() -> None:
    """Run the command; what a user can repair is one sentence and exit code 2."""
    try:
        app()
    except UsageError as error:
        Console(stderr=True, soft_wrap=True).print(
            f"autograder: {safe(str(error), 2000)}", highlight=False
        )
        raise SystemExit(2) from None
