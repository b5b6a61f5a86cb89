"""What `autograder grade` does once its arguments are read: grade a class, or one submission."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from autograder.assignment import Assignment
from autograder.cli.pages import write_after_grading
from autograder.cluster.schedulers import Wanted
from autograder.errors import ExitCode, UsageError
from autograder.grading import accepted, store
from autograder.grading.batch import Batch, Regraded
from autograder.grading.entries import Entry, Listing, discover, single
from autograder.grading.lock import alone
from autograder.grading.machine import cores, slow_build
from autograder.grading.messages import GradeJob, Unchanged
from autograder.grading.workers import CannotGrade, Tell
from autograder.judge.begin import begin
from autograder.nbgrader import course
from autograder.nbgrader.collected import exchange_problem, why_not
from autograder.reports import moved
from autograder.reports.feedback import print_single
from autograder.reports.score_table import print_held, print_left_out, print_table
from autograder.reports.shown import shown
from autograder.reports.terminal import ProgressReport, Stages, plain, safe
from autograder.results import SubmissionResult

if TYPE_CHECKING:
    from autograder.nbgrader.gradebook import ClassGradebook


@dataclass(frozen=True)
class Settings:
    """How a class is graded.

    Attributes:
        sandbox: how student code is isolated.
        jobs: workers of this machine; None for its cores.
        resume: keep results of unchanged submissions.
        cluster: what grades in the place of this machine's workers.
        wait: wait for another run that grades into the same folder.
    """

    sandbox: str
    jobs: int | None
    resume: bool
    cluster: Wanted | None = None
    wait: bool = False


class _Run:
    """A class that is graded, as far as it has come.

    Attributes:
        regraded: the earlier and the new result of every submission that was graded again.
        complete: whether all marks that should be in a gradebook are there.
    """

    def __init__(
        self,
        console: Console,
        assignment: Assignment,
        out: Path,
        how: Settings,
        book: ClassGradebook | None,
    ) -> None:
        self._console, self._assignment = console, assignment
        self._out, self._how, self._book = out, how, book
        self.regraded: Sequence[Regraded] = []
        self.complete = True

    def grade(self, entries: Sequence[Entry]) -> Sequence[SubmissionResult]:
        """Grade all entries; return their results, without what a list does not need."""
        with contextlib.ExitStack() as stack:
            with Stages(self._console) as stages:
                grader, workers, words = self._started(entries, stages, stack)
            self.regraded = grader.regraded
            self._console.print(words)
            # Not before: what cannot start says so in one line.
            if workers and (slow := slow_build()):
                plain(stderr=True).print(slow)
            with ProgressReport(self._console, len(entries), workers=workers) as progress:
                if self._book is None:
                    return grader.run(entries, progress, whole=False)
                again = not self._how.resume
                found, self.complete = self._book.grade(grader, entries, progress, again)
                return found

    def _started(
        self, entries: Sequence[Entry], tell: Tell, stack: contextlib.ExitStack
    ) -> tuple[Batch, int, str]:
        """Start what grades entries; `stack` ends it. Where none has changed, nothing is started.

        Returns:
            The batch, how many it grades side by side, and in words how student code is isolated.

        Raises:
            UsageError: it cannot be started.
        """
        assignment, out, how = self._assignment, self._out, self._how
        count = len(entries)
        if how.resume:
            batch = Batch(assignment, out, how.sandbox, 1, True, lambda job: Unchanged())
            stack.callback(batch.close)
            if all(_is_kept(assignment, batch.job(entry)) for entry in entries):
                return batch, 0, "nothing has changed: no worker is started"
        if how.cluster is None:
            workers = min(how.jobs or cores(), count)
            batch = Batch(assignment, out, how.sandbox, workers, how.resume)
            stack.callback(batch.close)
            return batch, workers, f"sandbox {batch.start(tell)}"
        # It brings Dask along.
        from autograder.cluster.client import Grader

        tell("reaching the cluster")
        far = Grader(how.cluster, assignment, how.sandbox)
        stack.callback(far.close)
        isolation = far.start(tell)
        store.sweep(out)
        threads = min(far.threads, count)
        batch = Batch(assignment, out, how.sandbox, threads, how.resume, far.grade)
        stack.callback(batch.close)
        return batch, far.slots, f"sandbox {isolation}"

    def report(self, entries: Sequence[Entry], found: Sequence[SubmissionResult]) -> None:
        """Write the table and the pages of a class that is graded, and print what became of it."""
        console, out, components = self._console, self._out, list(self._assignment.totals)
        table = store.write_table(out, found, components)
        print_table(console, found, components)
        moved.report(console, out, self.regraded)
        console.print(f"Results: {safe(str(table), 500)} and {safe(str(out), 500)}/results/")
        if not self.complete:
            console.print("some marks are not in the gradebook; run the same command to try again")
        names = [entry.id for entry in entries]
        written = store.Stored([store.path_of(out, name) for name in names], names)
        write_after_grading(console, self._assignment, out, written, self.regraded)


def _is_kept(assignment: Assignment, job: GradeJob) -> bool:
    """Return whether an earlier result is of this very submission, as a worker would find."""
    if job.known is None or not job.place.exists():
        return False
    try:
        return isinstance(begin(assignment, job, ""), Unchanged)
    except Exception:
        # A worker will say what is wrong with it.
        return False


def grade_class(
    assignment: Assignment,
    batch: Path,
    out: Path,
    how: Settings,
    book: ClassGradebook | None = None,
) -> int:
    """Grade a batch into the folder `out`, and into a gradebook; return the exit code."""
    console = plain()
    if book is None:
        listing = discover(batch, assignment.name, list(assignment.totals))
    else:
        listing = Listing(course.handed_in(batch, assignment.name))
    if problem := exchange_problem(batch.absolute().parent):
        console.print(safe(problem, 1000))
    listing, refused = _as_collected(console, listing)
    if not listing.entries:
        print_left_out(console, listing, [])
        return ExitCode.MISUSED
    for name in course.passed_over(batch, assignment.name) if book is not None else ():
        console.print(f"not marked: {safe(name)}")
    # A course's gradebook is marked by one at a time, wherever the results go.
    folders = {out.resolve(): out}
    if book is not None:
        folders.setdefault(book.results.resolve(), book.results)
    with contextlib.ExitStack() as stack:
        for folder in folders.values():
            store.make_writable(folder)
            stack.enter_context(alone(folder, how.wait, Stages(console)))
        run = _Run(console, assignment, out, how, book)
        return _graded(run, console, out, listing) or int(refused)


def _as_collected(console: Console, listing: Listing) -> tuple[Listing, bool]:
    """Return what is marked of a batch, and whether anything of a course is refused; say what."""
    refused = {entry.id: why for entry in listing.entries if (why := why_not(entry.path))}
    for student, why in refused.items():
        console.print(f"not marked: {safe(student)}: {safe(why, 1000)}")
    entries = [entry for entry in listing.entries if entry.id not in refused]
    return dataclasses.replace(listing, entries=entries), bool(refused)


def _graded(run: _Run, console: Console, out: Path, listing: Listing) -> int:
    """Grade a class into a folder that is ours for as long; return the exit code."""
    try:
        found = run.grade(listing.entries)
    except KeyboardInterrupt:
        console.print("stopped: what is done is kept; run the same command to go on")
        moved.report(console, out, run.regraded)
        return ExitCode.INTERRUPTED
    run.report(listing.entries, found)
    print_left_out(console, listing, found)
    print_held(console, out, found)
    if listing.doubled:
        return ExitCode.MISUSED
    faults = any(result.status == "error" for result in found)
    return ExitCode.NOT_ALL if faults or not run.complete else ExitCode.DONE


def grade_one(
    assignment: Assignment, path: Path, out: Path | None, how: Settings, fail_under: float | None
) -> int:
    """Grade a folder or an archive as one submission and return the exit code.

    Args:
        assignment: what is graded.
        path: the submission.
        out: where the result is kept; None for nowhere.
        how: how it is graded.
        fail_under: the percentage of the points below which it fails.
    """
    entry = single(path, assignment.name, list(assignment.totals))
    if why := why_not(entry.path):
        raise UsageError(f"{entry.id} is not marked: {why}")
    console = plain()
    with (
        contextlib.ExitStack() as stack,
        tempfile.TemporaryDirectory(prefix="gradeformer-one-") as nowhere,
    ):
        place = out or Path(nowhere)
        store.make_writable(place)
        stack.enter_context(alone(place, how.wait, Stages(console)))
        grader = Batch(assignment, place, how.sandbox, 1, how.resume)
        try:
            with Stages(console) as stages:
                stages(f"grading with {grader.start(stages)}")
                result, _ = grader.result(entry)
        except CannotGrade as reason:
            console.print(f"cannot grade: {safe(str(reason), 2000)}")
            return ExitCode.FAULT
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED
        finally:
            grader.close()
    if result.status == "error":
        # Not the student's business, but that of whoever runs it.
        plain(stderr=True).print(safe(result.message, 2000))
    print_single(console, shown(result, assignment.feedback, datetime.now(UTC)))
    if out is not None:
        kept = store.path_of(out, result.submission)
        console.print(f"Result: {safe(str(kept), 500)}")
        if result.held:
            typed = safe(accepted.command(out, result.submission), 1000)
            console.print(f"accept with `{typed}`, then grade again")
    return _code(result, fail_under)


def _code(result: SubmissionResult, fail_under: float | None) -> int:
    if result.score is None:
        return ExitCode.FAULT
    reached = 100 * result.score / result.max_score
    # A sum of shares is as near to a round number as floats come.
    below = fail_under is not None and reached < fail_under - 1e-9
    return (
        ExitCode.NOT_ALL if below or result.held or result.status == "rejected" else ExitCode.DONE
    )
