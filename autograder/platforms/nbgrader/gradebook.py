"""Mark a whole class in nbgrader's gradebook, as `nbgrader autograde` would, from our results."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, SAWarning, SQLAlchemyError

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.grading.batch import Batch, Progress
from autograder.grading.entries import Entry
from autograder.platforms.nbgrader.collected import results_folder
from autograder.platforms.nbgrader.course import app_of
from autograder.platforms.nbgrader.preprocessors import Run, must_agree, stamp
from autograder.results import SubmissionResult, light


class ClassGradebook(Autograde):  # type: ignore[misc]
    """The gradebook of a course: nbgrader's own autograding, with results that are given to it.

    What is up to date is left alone. A workbook that is missing, or that cannot be read, costs no
    mark of the modules beside it.

    Args:
        course: the course folder, with nbgrader's configuration in it.
        url: where the gradebook is, as SQLAlchemy writes it.
        assignment: what is graded.

    Attributes:
        results: where the course keeps the assignment's results.

    Raises:
        UsageError: it cannot be opened, does not know the assignment yet, or has other points.
    """

    def __init__(self, course: Path, url: str, assignment: Assignment) -> None:
        app = app_of(course)
        super().__init__(coursedir=app.coursedir, parent=app)
        self.force = True
        self.results = results_folder(course, assignment.name)
        self._feedback = assignment.feedback
        coursedir, name = self.coursedir, assignment.name
        coursedir.db_url, coursedir.assignment_id, coursedir.student_id = url, name, "*"
        # nbgrader's own queries, which SQLAlchemy finds unusual.
        warnings.simplefilter("ignore", SAWarning)
        shown = _shown(url, course)
        try:
            with Gradebook(url, coursedir.course_id) as gradebook:
                notebooks = gradebook.find_assignment(name).notebooks
                self._notebooks = [f"{notebook.name}.ipynb" for notebook in notebooks]
                for cell in (cell for notebook in notebooks for cell in notebook.grade_cells):
                    # What a person marks is worth what the gradebook says.
                    points = assignment.totals.get(cell.name, cell.max_score)
                    must_agree(cell.name, cell.max_score, points)
        except MissingEntry as error:
            raise UsageError(
                f"the gradebook {shown} has no assignment {name!r}: run "
                f"`nbgrader generate_assignment {name}` in {course} first"
            ) from error
        # A module that is not installed, a URL that is none, a server that does not answer.
        except (SQLAlchemyError, ImportError) as error:
            reason = str(error).splitlines()[0]
            hint = f": pip install {error.name}" if isinstance(error, ImportError) else ""
            raise UsageError(f"the gradebook {shown} cannot be opened: {reason}{hint}") from error

    def grade(
        self,
        batch: Batch,
        entries: Sequence[Entry],
        progress: Progress,
        again: bool = False,
    ) -> tuple[Sequence[SubmissionResult], bool]:
        """Grade a class and mark it at the same time.

        Args:
            batch: what grades.
            entries: the submissions.
            progress: called after every submission with its result and whether it was kept.
            again: mark also what is up to date.

        Returns:
            The results in the order of `entries`, and whether all of them are in the gradebook.
        """
        coming = iter(entries)
        found: dict[str, SubmissionResult] = {}
        last: SubmissionResult | None = None

        def result_of(entry: Entry) -> SubmissionResult:
            nonlocal last
            # nbgrader comes to each twice, one right after the other.
            if last is None or last.submission != entry.id:
                batch.begin(entry)
                batch.ahead(coming)
                last, kept = batch.result(entry)
                found[entry.id] = light(last)
                progress(last, kept)
            return last

        def keep(result: SubmissionResult) -> None:
            nonlocal last
            batch.keep(result)
            last, found[result.submission] = result, light(result)

        self.gradeformer = Run(result_of, self._feedback, keep)
        self._entries, self._again = {entry.id: entry for entry in entries}, again
        complete = False
        try:
            with contextlib.suppress(NbGraderException):
                self.start()
                complete = True
            # Whatever kept nbgrader from one of them, its result is wanted.
            for entry in [entry for entry in entries if entry.id not in found]:
                result_of(entry)
        finally:
            batch.close()
        return [found[entry.id] for entry in entries], complete

    def init_notebooks(self) -> None:
        """Take every submission, in order, whether its workbook is there or not."""
        name = self.coursedir.assignment_id
        folders = [self._format_source(name, student) for student in self._entries]
        self.assignments = {
            folder: [str(Path(folder, notebook)) for notebook in self._notebooks]
            for folder in folders
        }

    def init_destination(self, assignment_id: str, student_id: str) -> bool:
        """Make room for a submission's autograded files; False if they are up to date."""
        result = self.gradeformer.result_of(self._entries[student_id])
        if not self._again and self._is_marked(result, assignment_id):
            return False
        return bool(super().init_destination(assignment_id, student_id))

    def _is_marked(self, result: SubmissionResult, name: str) -> bool:
        """Return whether files and gradebook hold this result of this submission."""
        student, times = result.submission, self.coursedir.get_existing_timestamp
        source = Path(self._format_source(name, student))
        done = Path(self.coursedir.format_path(self._output_directory, student, name))
        if result.graded is None or times(str(source)) != times(str(done)):
            return False
        outcomes = self.gradeformer.feedback.shows(datetime.now(UTC))
        for notebook in self._notebooks:
            try:
                made = json.loads((done / notebook).read_bytes())["metadata"]["gradeformer"]
            except (OSError, ValueError, LookupError, TypeError):
                return False
            if made != stamp(result, source / notebook, outcomes):
                return False
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as gradebook:
            try:
                notebooks = gradebook.find_submission(name, student).notebooks
            except MissingEntry:
                return False
            marks = {grade.name: grade.auto_score for book in notebooks for grade in book.grades}
        return all(marks.get(key) == part.score for key, part in result.components.items())


def _shown(url: str, course: Path) -> str:
    """Return a gradebook's URL without its password.

    Raises:
        UsageError: it is none, or leads to no file.
    """
    try:
        made = make_url(url)
    except ArgumentError as error:
        raise UsageError(
            f"--gradebook {url!r} is no URL of a database: give "
            f"sqlite:///{course}/gradebook.db, or postgresql+psycopg://user@host/database"
        ) from error
    shown: str = made.render_as_string(hide_password=True)
    # SQLAlchemy would make an empty one.
    if made.get_backend_name() == "sqlite" and not Path(made.database or "").is_file():
        raise UsageError(
            f"the gradebook {shown} does not exist: nbgrader keeps it at "
            f"sqlite:///{course}/gradebook.db, once `nbgrader generate_assignment` has run"
        )
    return shown
