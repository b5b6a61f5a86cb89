"""What nbgrader's gradebook holds, read through nbgrader's own code."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.course import ASSIGNMENT


@dataclass(frozen=True)
class Mark:
    """What one cell of one student came to."""

    score: float
    auto: float | None
    manual: float | None
    extra: float | None
    waits: bool
    comment: str | None


@dataclass(frozen=True)
class Gradebook:
    """A gradebook at one moment; two that hold the same are equal."""

    # Notebook, name, points and type of every cell that is graded.
    cells: tuple[tuple[str, str, float, str], ...]
    marks: Mapping[tuple[str, str], Mark]
    totals: Mapping[str, float]

    def of(self, student: str) -> dict[str, Mark]:
        return {cell: mark for (name, cell), mark in self.marks.items() if name == student}


def read(url: str) -> Gradebook:
    """Read the gradebook at an address."""
    with warnings.catch_warnings():
        # What nbgrader's libraries say about each other is not ours to mend.
        warnings.simplefilter("ignore")
        from nbgrader.api import Gradebook as Database

        with Database(url) as database:
            assignment = database.find_assignment(ASSIGNMENT)
            cells = [
                (notebook.name, cell.name, cell.max_score, cell.cell_type)
                for notebook in assignment.notebooks
                for cell in notebook.grade_cells
            ]
            marks, totals = {}, {}
            for submission in database.assignment_submissions(ASSIGNMENT):
                totals[submission.student_id] = submission.score
                for notebook in submission.notebooks:
                    comments = {comment.name: comment.comment for comment in notebook.comments}
                    for grade in notebook.grades:
                        marks[submission.student_id, grade.name] = Mark(
                            grade.score,
                            grade.auto_score,
                            grade.manual_score,
                            grade.extra_credit,
                            bool(grade.needs_manual_grade),
                            comments.get(grade.name),
                        )
    return Gradebook(tuple(sorted(cells)), marks, totals)
