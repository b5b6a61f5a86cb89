"""Prove an assignment's suites: right work keeps every point, every mistake loses some.

Solutions, stand-ins, right and wrong variants, stubs, trivial work, misconceptions and mutants are
graded as submissions are, by the same workers in the same sandbox. As in a batch, what is unchanged
since an earlier run is kept: a result follows from the row, the suites, the seed and the versions.

Graded mutants also tell what wrong work comes near to whose mistake has no name: those that fail as
it does. The two are compared by what results say: the same criteria fail, in as many cases, with
the same facts. So no student's code runs for it, and a class needs each mutant graded once.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from autograder import private
from autograder.assignment import Assignment
from autograder.authoring import pasted
from autograder.authoring.folders import write_files
from autograder.authoring.proof import Loss, Report, report_on
from autograder.authoring.rows import RIGHT, Row, given_rows, rows_of
from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.batch import Batch, Progress
from autograder.grading.entries import Entry
from autograder.grading.messages import Explained, ExplainJob
from autograder.grading.workers import (
    CannotGrade,
    SuiteBroken,
    Tell,
    Worker,
    WorkerLost,
    cores,
    unheard,
)
from autograder.judge.places import cache_folder
from autograder.reports.pages.statistics import Nearest
from autograder.results import ComponentResult, SubmissionResult, losing_points, losing_public
from autograder.sandbox.scratch import temporary_folder

# Of the results that are kept of an assignment, those go first that were used least recently. All
# rows of a large one are a few thousand.
_MOST_KEPT = 8000
# A suite that is broken is broken for many rows at once: a few of them show why.
_ROWS_EXPLAINED = 5
_CRITERIA_EXPLAINED = 3

# By component: of criteria that did not pass how each ended, the cases that passed, what is wrong.
_Failing = tuple[str, tuple[tuple[str, str, int, tuple[str, ...]], ...]]


class _Graded(NamedTuple):
    """What rows were handed in as, their results, and the isolation in words."""

    entries: Sequence[Entry]
    results: Sequence[SubmissionResult]
    sandbox: str


def run(
    assignment: Assignment,
    rows: Sequence[Row],
    sandbox: str,
    jobs: int,
    progress: Progress,
    tell: Tell,
    kinds: Collection[str] = (),
    fresh: bool = False,
) -> Report:
    """Grade rows and judge the suites by what became of them.

    `kinds` are those of the rows, beside the solution; all if there are none. Results are kept, and
    those of earlier runs are taken unless it is to be `fresh`.

    Raises:
        SuiteBroken: the solution loses points, or the suite cannot be collected.
        CannotGrade: student code cannot be isolated here.
    """
    kept = None if fresh else _kept_results(assignment)
    with temporary_folder() as folder:
        graded = _grade(assignment, rows, folder, sandbox, jobs, progress, tell, kept)
        report = report_on(assignment, rows, graded.results, graded.sandbox, kinds)
        if kept is not None:
            for row, result in zip(rows, graded.results, strict=True):
                if _is_doubtful(row, result, report):
                    store.path_of(kept, result.submission).unlink(missing_ok=True)
            _make_room(kept / "results")
        report.why = _losses(assignment, rows, graded, sandbox)
    return report


def must_earn_nothing(assignment: Assignment, tell: Tell = unheard) -> None:
    """See that nothing which a release would hold earns points when it is handed in.

    That it is so is kept, and the next release of the same suite need not grade.

    Raises:
        UsageError: something does.
        SuiteBroken: the suite cannot be collected.
    """
    rows = given_rows(assignment)
    cache = cache_folder()
    how = repr([assignment.suite_hash(), *((row.id, sorted(row.files.items())) for row in rows)])
    proof = None if cache is None else cache / "given" / hashlib.sha256(how.encode()).hexdigest()
    if not rows or (proof is not None and proof.exists()):
        return
    tell("handing in what is given")
    try:
        results = _given_results(assignment, rows, "auto", tell)
    except SuiteBroken:
        raise
    except CannotGrade:
        # All that runs is the author's.
        results = _given_results(assignment, rows, "none", tell)
    faults = pasted.faults_of(assignment, results)
    if faults:
        more = f" (and {len(faults) - 1} more: autograder selftest {assignment.name} --kind given)"
        raise UsageError(faults[0] + (more if len(faults) > 1 else ""))
    if proof is not None:
        private.make_folder(proof.parent)
        private.write_file(proof, b"")


def _given_results(
    assignment: Assignment, rows: Sequence[Row], sandbox: str, tell: Tell
) -> dict[str, SubmissionResult]:
    kept, jobs = _kept_results(assignment), min(cores(), len(rows))
    with temporary_folder() as folder:
        found = _grade(assignment, rows, folder, sandbox, jobs, _unseen, tell, kept)
    for row, result in zip(rows, found.results, strict=True):
        if result.status != "graded":
            raise CannotGrade(f"{row.id} could not be graded: {result.message}")
    return {row.id: result for row, result in zip(rows, found.results, strict=True)}


def _unseen(result: SubmissionResult, kept: bool) -> None:
    """Show nothing of a result."""


def _kept_results(assignment: Assignment) -> Path | None:
    """Return where results of an assignment's rows are kept between selftests, if anywhere.

    All checkouts on this machine share them: a result follows from the row and the suite.
    """
    folder = cache_folder()
    return None if folder is None else folder / "selftest" / assignment.name


def _grade(
    assignment: Assignment,
    rows: Sequence[Row],
    folder: Path,
    sandbox: str,
    jobs: int,
    progress: Progress,
    tell: Tell,
    kept: Path | None,
) -> _Graded:
    """Grade the rows in `folder`, and look results up in `kept`; raise what `run` does."""
    out = kept or folder
    private.make_folder(out / "results")
    batch = Batch(assignment, out, sandbox, jobs, resume=kept is not None)
    try:
        words = batch.start(tell)
        suite = assignment.suite_hash()
        places = [folder / "rows" / f"{number:04}" for number in range(len(rows))]
        entries = [_entry(*given, words, suite) for given in zip(places, rows, strict=True)]
        graded = batch.run([entries[number] for number in _in_turn(rows)], progress)
    finally:
        batch.close()
    by_id = {result.submission: result for result in graded}
    return _Graded(entries, [by_id[entry.id] for entry in entries], words)


def _entry(place: Path, row: Row, sandbox: str, suite: str) -> Entry:
    """Hand a row in.

    Its id is a hash of all that its result follows from and that no result says of itself: `Graded`
    has the rest, and a result without it, as that of a fault, is never kept.
    """
    place.mkdir(parents=True)
    write_files(place, row.files)
    # Of these only marks are wanted, and the search for misconceptions is expensive: it tries all
    # pairs before it gives up on work that answers at random.
    diagnose = row.kind not in ("mutant", "trivial", "given")
    how = repr((row.id, sandbox, suite, sorted(row.files.items()), row.exempt, row.only, diagnose))
    name = hashlib.sha256(how.encode()).hexdigest()
    return Entry(name, place, row.exempt, row.only, diagnose)


def _in_turn(rows: Sequence[Row]) -> list[int]:
    """Return in which order to grade: a row of each component, then the next of each.

    What right and mistaken work answers is computed for the first row of a component, and kept.
    Workers that were at the same component would compute it each by itself.
    """
    turns: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        turns.setdefault(row.component, []).append(number)
    rounds = itertools.zip_longest(*turns.values())
    return [number for turn in rounds for number in turn if number is not None]


def _is_doubtful(row: Row, result: SubmissionResult, report: Report) -> bool:
    """Return whether to grade a row again: it is at fault, or a busy machine may be."""
    outcomes = {c.outcome for part in result.components.values() for c in part.criteria}
    return "timeout" in outcomes or any(row.id in fault for fault in report.faults)


def _make_room(results: Path) -> None:
    used = sorted(results.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in used[_MOST_KEPT:]:
        path.unlink(missing_ok=True)


def _losses(
    assignment: Assignment,
    rows: Sequence[Row],
    graded: _Graded,
    sandbox: str,
) -> list[Loss]:
    """Run again, with calls and answers, some criteria that right work lost."""
    jobs: dict[str, list[ExplainJob]] = {}
    for row, result, entry in zip(rows, graded.results, graded.entries, strict=True):
        if row.kind in RIGHT and result.status == "graded" and len(jobs) < _ROWS_EXPLAINED:
            lost = [
                ExplainJob(
                    path=os.fsencode(entry.path),
                    criterion=criterion.id,
                    suite_hash=assignment.suite_hash(),
                    broken=tuple(losing_points(result.components, spec.uses)),
                    broken_publicly=tuple(losing_public(result.components, spec.uses)),
                    exempt=row.exempt,
                )
                for spec in assignment.components
                if spec.name in result.components
                for criterion in result.components[spec.name].criteria
                if not criterion.passed
            ]
            if lost:
                jobs[row.id] = lost[:_CRITERIA_EXPLAINED]
    explained: list[Loss] = []
    if not jobs:
        return explained
    worker = Worker(assignment, sandbox)
    try:
        worker.wait()
        for name, job in ((name, job) for name, some in jobs.items() for job in some):
            answer = worker.ask(job)
            if isinstance(answer, Explained):
                explained.append(Loss(row=name, explained=answer))
    except WorkerLost:
        # The report says all the same what is lost.
        pass
    finally:
        worker.close()
    return explained


# What work without a named mistake comes near to.


def mutants_for(assignment: Assignment, results: Iterable[SubmissionResult]) -> list[Row]:
    """Return the mutants of all components in which somebody's mistake has no name, as rows."""
    components = sorted({failing[0] for result in results for failing in _unnamed(result)})
    if not components:
        return []
    rows = rows_of(assignment, 0, None, components, ["mutant"])
    return [row for row in rows if row.mutant]


def nearest(
    assignment: Assignment,
    results: Iterable[SubmissionResult],
    rows: Sequence[Row],
    sandbox: str,
    jobs: int,
    progress: Progress,
    tell: Tell,
) -> list[Nearest]:
    """Return which of the mutants in `rows` fail as submissions do whose mistake has no name.

    Raises:
        SuiteBroken: the suite cannot be collected, or the solution loses points.
        CannotGrade: code cannot be isolated here.
    """
    by_failing: dict[_Failing, Nearest] = {}
    with temporary_folder() as folder:
        kept = _kept_results(assignment)
        graded = _grade(assignment, rows, folder, sandbox, jobs, progress, tell, kept)
    for row, found in zip(rows, graded.results, strict=True):
        if row.mutant and row.component in found.components:
            failing = _failing(row.component, found.components[row.component])
            change = f"`{row.mutant.new or 'nothing'}` in line {row.mutant.line}"
            near = by_failing.setdefault(failing, Nearest(row.component, [], []))
            near.changes.append(change)
    for result in results:
        for failing in _unnamed(result):
            if failing in by_failing:
                by_failing[failing].who.append(result.submission)
    return [one for one in by_failing.values() if one.who]


def _unnamed(result: SubmissionResult) -> Iterator[_Failing]:
    """Yield the components that lose points to a mistake without a name, and how they fail."""
    for name, component in result.components.items():
        if not component.misconceptions and _tells(component):
            yield _failing(name, component)


def _tells(component: ComponentResult) -> bool:
    """Return whether a result says enough to be compared: values that a public check found."""
    return component.status == "graded" and any(
        c.outcome == "failed" and c.visibility == "public" and c.facts and not c.unsteady
        for c in component.criteria
    )


def _failing(name: str, component: ComponentResult) -> _Failing:
    lost = (c for c in component.criteria if c.outcome != "passed")
    return name, tuple((c.id, c.outcome, c.passed_cases, tuple(c.facts)) for c in lost)
