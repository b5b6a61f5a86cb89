"""Grade one submission, and say what its student may see."""

from __future__ import annotations

import contextlib
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from autograder.assignment import Assignment
from autograder.cli.exposed import warn
from autograder.errors import UsageError
from autograder.grading import accepted, store
from autograder.grading.batch import Batch
from autograder.grading.entries import single
from autograder.grading.lock import alone
from autograder.grading.workers import CannotGrade
from autograder.nbgrader.collected import why_not
from autograder.reports.shown import shown
from autograder.reports.single import print_single
from autograder.reports.terminal import Stages, safe
from autograder.results import SubmissionResult

_FINE, _BELOW, _FAULT = 0, 1, 3
_INTERRUPTED = 130


def grade_one(
    assignment: Assignment,
    path: Path,
    out: Path | None,
    resume: bool,
    sandbox: str,
    fail_under: float | None,
    wait: bool = False,
) -> int:
    """Grade a folder or an archive as one submission and return the exit code.

    Args:
        assignment: what is graded.
        path: the submission.
        out: where the result is kept; None for nowhere.
        resume: keep an earlier result, if nothing has changed.
        sandbox: how student code is isolated.
        fail_under: the percentage of the points below which it fails.
        wait: wait for another run that grades into the same folder.
    """
    entry = single(path, assignment.name, list(assignment.totals))
    if why := why_not(entry.path):
        raise UsageError(f"{entry.id} is not marked: {why}")
    console = Console(soft_wrap=True)
    if out is not None:
        warn(assignment, out)
    with (
        contextlib.ExitStack() as stack,
        tempfile.TemporaryDirectory(prefix="gradeformer-one-") as nowhere,
    ):
        place = out or Path(nowhere)
        store.make_writable(place)
        stack.enter_context(alone(place, wait, Stages(console)))
        grader = Batch(assignment, place, sandbox, 1, resume)
        try:
            with Stages(console) as stages:
                stages(f"grading with {grader.start(stages)}")
                result, _ = grader.result(entry)
        except CannotGrade as reason:
            console.print(f"cannot grade: {safe(str(reason), 2000)}", highlight=False)
            return _FAULT
        except KeyboardInterrupt:
            return _INTERRUPTED
        finally:
            grader.close()
    if result.status == "error":
        # Not the student's business, but that of whoever runs it.
        Console(stderr=True, soft_wrap=True).print(safe(result.message, 2000), highlight=False)
    print_single(console, shown(result, assignment.feedback, datetime.now(UTC)))
    if out is not None:
        kept = store.path_of(out, result.submission)
        console.print(f"Result: {safe(str(kept), 500)}", highlight=False)
        if result.held:
            typed = safe(accepted.command(out, result.submission), 1000)
            console.print(f"accept with `{typed}`, then grade again", highlight=False)
    return _code(result, fail_under)


def _code(result: SubmissionResult, fail_under: float | None) -> int:
    if result.score is None:
        return _FAULT
    reached = 100 * result.score / result.max_score
    # A sum of shares is as near to a round number as floats come.
    below = fail_under is not None and reached < fail_under - 1e-9
    return _BELOW if below or result.held or result.status == "rejected" else _FINE
