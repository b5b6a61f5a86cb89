"""The command `autograder`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from autograder import __version__
from autograder.cli import authoring, pipelines, reporting
from autograder.cli.accepting import accept
from autograder.cli.grading import demo, explain, grade
from autograder.errors import ExitCode, UsageError
from autograder.reports.terminal import say

# Without rich's boxes, which break what is to be typed at the end of a line.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
courses = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
ci = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(courses, name="course", help="Make courses that nbgrader runs.")
app.add_typer(ci, name="ci", help="Grade on GitHub, GitLab and Gradescope.")


def _add(
    group: typer.Typer, command: Callable[..., Any], *examples: str, name: str | None = None
) -> None:
    """Add a command with examples of its use, which its help shows as they are typed."""
    lines = "".join(f"\n  {example}" for example in examples)
    group.command(name=name, epilog=f"\b\nFor example:{lines}")(command)


_add(
    app,
    authoring.new,
    "autograder new course",
    "autograder new course --from ../gradeformer/assignments/week_one",
    "autograder new assignment week_two --component first --component second",
)
_add(
    app,
    grade,
    "autograder grade submissions --assignment first_steps --out results",
    "autograder grade submitted --gradebook sqlite:////course/gradebook.db",
)
_add(
    app,
    accept,
    "autograder accept results s03",
    "autograder accept results s03 rescale",
    "autograder accept ~/course s03 --assignment first_steps",
)
_add(app, explain, "autograder explain results/results/s01.json rescale.random")
_add(
    app,
    reporting.export,
    "autograder export junit results/results/s01.json --out junit.xml",
    "autograder export canvas results --roster gradebook.csv --out marks.csv",
)
_add(
    app,
    reporting.report,
    "autograder report results --out pages",
    "autograder report results --out pages --anonymous",
    "autograder report results --out pages --since results-of-last-week",
)
_add(
    app,
    reporting.similar,
    "autograder similar submissions --assignment first_steps --out similar",
    "autograder similar submissions --public slides --threshold 60",
)
_add(app, authoring.release, "autograder release first_steps --out handout")
_add(
    app,
    authoring.check,
    "autograder check first_steps",
    "autograder check first_steps rescale --watch",
)
_add(app, authoring.selftest, "autograder selftest first_steps --jobs 2")
_add(app, demo, "autograder demo --assignment first_steps --root gradeformer")
_add(app, authoring.regenerate, "autograder stubs first_steps", name="stubs")
_add(app, authoring.regenerate_workbook, "autograder workbook first_steps", name="workbook")
_add(
    courses,
    authoring.init_course,
    "autograder course init ~/course --assignment first_steps",
    "autograder course init /srv/course --group graders",
    name="init",
)
_add(courses, authoring.check_course, "autograder course check ~/course", name="check")
_add(
    ci,
    pipelines.github,
    "autograder ci github --assignment first_steps --out pipeline",
    "autograder ci github --assignment hw1 --organisation cs --prefix h1- --out p",
)
_add(
    ci,
    pipelines.gitlab,
    "autograder ci gitlab --assignment hw1 --repositories students.csv --out p",
)
_add(ci, pipelines.gradescope, "autograder ci gradescope first_steps --out autograder.zip")
_add(
    ci,
    pipelines.fetch,
    "autograder ci fetch --repositories students.csv --work w",
    "autograder ci fetch --organisation cs1 --prefix h1- --attempts 3 --work w",
)
_add(ci, pipelines.post, "autograder ci post --assignment first_steps --work w")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradeformer {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Grade submissions, and write the assignments that they answer."""


def main() -> None:
    """Run the command; what a user can repair is one sentence and exit code 2."""
    try:
        app(prog_name="autograder")
    except UsageError as error:
        say(f"autograder: {error}", stderr=True)
        raise SystemExit(ExitCode.MISUSED) from None
