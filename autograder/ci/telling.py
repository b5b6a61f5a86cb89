"""What a student is told of a result: what `autograder export` makes of it."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from autograder.ci.platforms import State
from autograder.reports.single import print_single
from autograder.results import SubmissionResult

_SECONDS = 120
_MAX_TEXT = 60_000


class CannotTell(Exception):
    """A result cannot be put into words; the message says why."""


def text_of(path: Path, result: SubmissionResult, root: Path) -> str:
    """Return in Markdown what a student may see of a result.

    Args:
        path: the result file.
        result: what it holds.
        root: the project, which says what is shown of hidden criteria.

    Raises:
        CannotTell: it cannot be exported.
    """
    command = [sys.executable, "-m", "autograder", "export", "markdown", str(path)]
    done = subprocess.run(
        [*command, "--root", str(root)], capture_output=True, text=True, timeout=_SECONDS
    )
    if done.returncode == 0:
        return _short(done.stdout)
    if "No such command 'export'" in done.stderr:
        return _short(_plain(result))
    raise CannotTell(done.stderr.strip()[-300:] or f"exit code {done.returncode}")


def status_of(result: SubmissionResult, fail_under: float) -> tuple[State, str]:
    """Return the state of a commit and the line that goes with it.

    Args:
        result: what the commit was graded.
        fail_under: the percentage of the points below which its state is a failure.
    """
    if result.score is None:
        return "error", "The grader failed; that is not your fault, and it is tried again"
    if result.status == "rejected":
        return "failure", f"Not accepted: {result.message}"
    line = f"{result.score:g} of {result.max_score:g} points"
    if result.standing == "empty":
        return "failure", f"{line}: there is no file of {result.assignment} in it"
    # A sum of shares is as near to a round number as floats come.
    below = 100 * result.score / result.max_score < fail_under - 1e-9
    return ("failure" if below else "success"), line


def _plain(result: SubmissionResult) -> str:
    out = io.StringIO()
    print_single(Console(file=out, width=100, soft_wrap=True, color_system=None), result)
    # Nothing in an indented block is read as Markdown.
    return "".join(f"    {line}\n" for line in out.getvalue().splitlines())


def _short(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "\n\n(cut off here)\n"
