"""Prove an assignment's suites: right work keeps every point, every mistake loses some.

Solutions, stand-ins, right and wrong variants, stubs, trivial work, misconceptions and mutants are
graded as submissions are, by the same workers in the same sandbox.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from autograder.assignment import Assignment
from autograder.authoring.proof import Report, report_on
from autograder.authoring.rows import Row
from autograder.authoring.why import losses
from autograder.grading.batch import Batch, Progress
from autograder.grading.entries import Entry
from autograder.grading.workers import Tell, unheard


def run(
    assignment: Assignment,
    rows: Sequence[Row],
    folder: Path,
    sandbox: str,
    jobs: int,
    progress: Progress,
    tell: Tell = unheard,
    kinds: Collection[str] = (),
) -> Report:
    """Grade the rows in `folder` and judge the suites by what became of them.

    `kinds` are those of the rows, beside the solution; all if there are none.

    Raises:
        SuiteBroken: the solution loses points, or the suite cannot be collected.
        CannotGrade: student code cannot be isolated here.
    """
    entries: list[Entry] = []
    for number, row in enumerate(rows):
        place = folder / "rows" / f"{number:04}"
        place.mkdir(parents=True)
        for name, source in row.files.items():
            (place / name).write_bytes(source)
        # Of a mutant only its marks are wanted, and the search for misconceptions is dear.
        diagnose = row.kind != "mutant"
        entries.append(Entry(place.name, place, row.exempt, row.only, diagnose))
    (folder / "results").mkdir(exist_ok=True)
    batch = Batch(assignment, folder, sandbox, jobs, resume=False)
    try:
        words = batch.start(tell)
        found = batch.run(entries, progress)
    finally:
        batch.close()
    report = report_on(assignment, rows, found, words, kinds)
    why = losses(assignment, rows, found, [entry.path for entry in entries], sandbox)
    return report.model_copy(update={"why": why})
