"""The command `autograder`: arguments in, exit code out.

Each module has the commands of one kind of user; all that they do is in the other rooms, which are
imported when a command runs, so that `--help` is quick. Nothing imports this room. Door: `main`,
the one place where errors become sentences and exit codes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TextIO

import typer

from autograder import __version__
from autograder.cli import authoring, pipelines, reporting
from autograder.cli.accepting import accept
from autograder.cli.grading import demo, explain, grade
from autograder.environment import ANOTHER_PYTHON
from autograder.errors import ExitCode, UsageError
from autograder.reports.terminal import say_error

# Without rich's boxes, which break what is to be typed at the end of a line.
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None)
courses = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
ci = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(courses, name="course", help="Make courses that nbgrader runs.")
app.add_typer(ci, name="ci", help="Grade on GitHub, GitLab and Gradescope.")

_GROUPS = {"": app, "course": courses, "ci": ci}
_COMMANDS: dict[str, Callable[..., None]] = {
    "new": authoring.new,
    "import": authoring.import_,
    "grade": grade,
    "accept": accept,
    "explain": explain,
    "export": reporting.export,
    "report": reporting.report,
    "similar": reporting.similar,
    "release": authoring.release,
    "solutions": authoring.solutions,
    "check": authoring.check,
    "selftest": authoring.selftest,
    "demo": demo,
    "stubs": authoring.regenerate,
    "workbook": authoring.regenerate_workbook,
    "course init": authoring.init_course,
    "course check": authoring.check_course,
    "ci github": pipelines.github,
    "ci gitlab": pipelines.gitlab,
    "ci gradescope": pipelines.gradescope,
    "ci fetch": pipelines.fetch,
    "ci post": pipelines.post,
}
# The help of a command shows the lines that begin with it, as they are typed.
_EXAMPLES = """
autograder new course
autograder new course --from ../gradeformer/assignments/week_one
autograder new assignment week_two --component first --component second
autograder import homework.ipynb --name week_three
autograder grade submissions --assignment first_steps --out results
autograder grade submitted --gradebook sqlite:////course/gradebook.db
autograder accept results s03
autograder accept results s03 rescale
autograder accept ~/course s03 --assignment first_steps
autograder explain results/results/s01.json rescale.random
autograder export junit results/results/s01.json --out junit.xml
autograder export canvas results --roster gradebook.csv --out marks.csv
autograder report results --out pages
autograder report results --out pages --anonymous
autograder report results --out pages --since results-of-last-week
autograder similar submissions --assignment first_steps --out similar
autograder similar submissions --public slides --threshold 60
autograder release first_steps --out handout
autograder solutions first_steps --out solutions
autograder check first_steps
autograder check first_steps rescale --watch
autograder selftest first_steps --jobs 2
autograder demo --assignment first_steps --root gradeformer
autograder stubs first_steps
autograder workbook first_steps
autograder course init ~/course --assignment first_steps
autograder course init /srv/course --group graders
autograder course check ~/course
autograder ci github --assignment first_steps --out pipeline
autograder ci github --assignment hw1 --organisation cs --prefix h1- --out p
autograder ci gitlab --assignment hw1 --repositories students.csv --out p
autograder ci gradescope first_steps --out autograder.zip
autograder ci fetch --repositories students.csv --work w
autograder ci fetch --organisation cs1 --prefix h1- --attempts 3 --work w
autograder ci post --assignment first_steps --work w
"""

for _name, _command in _COMMANDS.items():
    _lines = [line for line in _EXAMPLES.splitlines() if line.startswith(f"autograder {_name} ")]
    _group, _, _last = _name.rpartition(" ")
    _epilog = "\n  ".join(["\b\nFor example:", *_lines])
    _GROUPS[_group].command(name=_last, epilog=_epilog)(_command)


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


class _Output(io.TextIOWrapper):
    """A stream that replaces what it cannot encode, and goes on where nobody reads it any more."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)


def _output(stream: TextIO | None) -> TextIO:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    lines, encoding = stream.line_buffering, stream.encoding
    return _Output(stream.detach(), encoding, errors="replace", line_buffering=lines)


def _is_the_program() -> bool:
    """Return whether this process was started as the command, and not as what calls it."""
    started = sys.modules["__main__"]
    module = getattr(started, "__spec__", None)
    if module is not None:
        return bool(module.name == "autograder.__main__")
    return Path(getattr(started, "__file__", "")).stem == "autograder"


def main() -> None:
    """Run the command; what a user can repair is one sentence and exit code 2.

    Marks matter more than what is printed of them: no terminal or pipe ends a command.
    """
    given = [name for name in ANOTHER_PYTHON if name in os.environ and _is_the_program()]
    if (given or sys.getfilesystemencoding() != "utf-8") and not sys.flags.ignore_environment:
        # Names of files are UTF-8, whatever the locale; and tests are read with their docstrings.
        shown = {"PYTHONIOENCODING": getattr(sys.stdout, "encoding", "ascii"), **os.environ}
        again = {name: value for name, value in shown.items() if name not in given}
        again["PYTHONUTF8"] = "1"
        os.execve(sys.executable, sys.orig_argv, again)  # noqa: S606 - this very command
    if sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__:
        sys.stdout, sys.stderr = _output(sys.stdout), _output(sys.stderr)
    try:
        app(prog_name="autograder")
    except UsageError as error:
        say_error(error, stderr=True)
        raise SystemExit(ExitCode.MISUSED) from None
