"""What a student is told of a result: what `autograder export` makes of it, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pydantic import BaseModel, ValidationError

from autograder.platforms.ci.platforms import State
from autograder.results import SubmissionResult
from autograder.text import clean, out_of

_SECONDS = 120
_MAX_TEXT = 60_000


class CannotTell(Exception):
    """A result cannot be put into words; the message says why."""


class Seen(BaseModel):
    """What of a result a student may see, as far as a status tells it."""

    score: float
    max_score: float
    withheld: str = ""


def text_of(path: Path, root: Path) -> str:
    """Return in Markdown what a student may see of a result.

    Args:
        path: the result file.
        root: the project, which says what is shown of hidden criteria.

    Raises:
        CannotTell: it cannot be exported.
    """
    text = _exported("markdown", path, root)
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "\n\n(cut off here)\n"


def seen_of(path: Path, root: Path) -> Seen:
    """Return the points that a student may see; arguments and errors as for `text_of`."""
    try:
        return Seen.model_validate_json(_exported("json", path, root))
    except ValidationError as error:
        raise CannotTell(f"{path} has no points that can be shown") from error


def status_of(result: SubmissionResult, seen: Seen | None, fail_under: float) -> tuple[State, str]:
    """Return the state of a commit and the line that goes with it.

    Args:
        result: what the commit was graded.
        seen: what of it may be seen; None if it has no points.
        fail_under: the percentage of the points that are seen below which its state is a failure.
    """
    if seen is None:
        return "error", "The grader failed; that is not your fault, and it is tried again"
    if result.status == "rejected":
        return "failure", f"Not accepted: {clean(result.message)}"
    line = f"{out_of(seen.score, seen.max_score)} points"
    if seen.withheld:
        line += "; hidden checks are not shown"
    if result.standing == "empty":
        return "failure", f"{line}: there is no file of {result.assignment} in it"
    if result.held:
        # A person is to say what becomes of it.
        return "pending", f"{line}; held for review: {', '.join(result.held)}"
    # A sum of shares is as near to a round number as floats come.
    below = 100 * seen.score < (fail_under - 1e-9) * seen.max_score
    return ("failure" if below else "success"), line


def _exported(format_: str, path: Path, root: Path) -> str:
    command = [sys.executable, "-m", "autograder", "export", format_, str(path)]
    try:
        done = subprocess.run(
            [*command, "--root", str(root)], capture_output=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise CannotTell(f"{path} cannot be exported within {_SECONDS} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        raise CannotTell(clean(said, 300) or f"exit code {done.returncode}")
    return done.stdout.decode()
