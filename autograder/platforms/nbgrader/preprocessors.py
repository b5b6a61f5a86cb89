"""The steps that `nbgrader autograde` runs in place of executing a student's notebook.

One piece of code marks a class, however started: nbgrader's `Autograde` comes to one submission
after another, `GradeSubmission` has it graded and fills in its grade cells, and `SaveGrades` writes
the marks. `nbgrader autograde` and formgrader do so by nbgrader's configuration, and
`autograder grade --gradebook` by `gradebook.py`.
"""

from __future__ import annotations

import atexit
import contextlib
import glob
import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task
from traitlets import Bool, Int, List, Unicode

from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.grading import accepted, store
from autograder.grading.batch import Batch
from autograder.grading.entries import Entry, all_of, submission_in
from autograder.grading.workers import cores
from autograder.platforms.nbgrader.collected import results_folder, why_not
from autograder.project import find_root
from autograder.reports.shown import FAULT, Shown, component_page, fault_page, shown
from autograder.results import SubmissionResult
from autograder.settings import Feedback

_KEY = "gradeformer"
# In the metadata of a restored workbook: which questions wait for a person, and what to remark.
HANDED_IN = "handed_in"
# A worker holds some 500 MB: workers that nobody needs are ended after this.
_IDLE_S = 60.0


@dataclass(frozen=True)
class Run:
    """How a run of nbgrader comes to results; an attribute `gradeformer` of its converter.

    Attributes:
        result_of: returns the result of a submission as soon as it is there.
        keep: writes a result whose remarks have changed.
        feedback: what the assignment says about hidden criteria.
    """

    result_of: Callable[[Entry], SubmissionResult]
    feedback: Feedback
    keep: Callable[[SubmissionResult], None]

    def noted(
        self, result: SubmissionResult, notebook: str, said: Sequence[str]
    ) -> SubmissionResult:
        """Return a result with what is said of a workbook; keep it, if that is new."""
        start = f"{notebook}.ipynb: "
        others = [words for words in result.notes if not words.startswith(start)]
        notes = [*others, *(f"{start}{words}" for words in said)]
        if notes == result.notes:
            return result
        new = result.model_copy(update={"notes": notes})
        self.keep(new)
        return new


class GradeSubmission(NbGraderPreprocessor):  # type: ignore[misc]
    """Grades a submission's modules in the sandbox and fills in its grade cells.

    Stands where nbgrader has `Execute`: no kernel is started, and no student code runs in this
    process. While one submission is filled in, the next ones are graded, on all cores.
    """

    root = Unicode("", help="The project that grades; default: $GRADEFORMER_ROOT.").tag(config=True)
    sandbox = Unicode("auto", help="auto, tier1, tier2, tier3 or none.").tag(config=True)
    jobs = Int(0, help="Submissions graded side by side; default: the cores.").tag(config=True)
    wait = Bool(False, help="Wait while somebody else grades the same assignment.").tag(config=True)
    executed = List(
        Unicode(),
        help="Assignments of the course that are none of the project's: nbgrader executes these.",
    ).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Grade one submission.

        Raises:
            UsageError: nothing can be graded: no project, no such assignment, no sandbox.
        """
        names = resources["nbgrader"]
        if names["assignment"] in self.executed:
            found: tuple[Any, Any] = Execute(parent=self.parent).preprocess(nb, resources)
            return found
        course = Path(self._converter.coursedir.root).resolve()
        entry = self._entry(names["assignment"], names["student"])
        if reason := why_not(entry.path, course):
            raise UsageError(f"{entry.id} is not marked: {reason}")
        # Kept there, because every submission gets new preprocessors.
        if not hasattr(self._converter, _KEY):
            setattr(self._converter, _KEY, self._run(course, names))
            self._name_skipped(names["assignment"])
        run: Run = getattr(self._converter, _KEY)
        result = run.result_of(entry)
        now = datetime.now(UTC)
        if result.status == "error":
            self.log.error("%s could not be graded: %s", result.submission, result.message)
        if result.held:
            typed = accepted.command(course, entry.id)
            self.log.warning(
                "%s: %s; accept it with `%s` and autograde it again",
                *(entry.id, result.remarks, typed),
            )
        about = nb.metadata.pop(HANDED_IN, {})
        result = run.noted(result, names["notebook"], about.get("said", ()))
        waits = about.get("waits", {})
        resources[_KEY] = fill_in(nb, result, run.feedback, now), {*result.held}, waits, result
        workbook = entry.path / f"{names['notebook']}.ipynb"
        nb.metadata[_KEY] = stamp(result, workbook, run.feedback.shows(now))
        return nb, resources

    @property
    def _converter(self) -> Any:
        # The parent is its exporter.
        return self.parent.parent

    def _run(self, course: Path, names: Mapping[str, str]) -> Run:
        """Return how a run that nbgrader has started comes to results."""
        named = course / self.root if self.root else None
        assignment = load_assignment(
            find_root(named, "c.GradeSubmission.root"), names["assignment"]
        )
        out, jobs = results_folder(course, assignment.name), self.jobs or cores()
        asked = (assignment, out, self.sandbox, jobs, not self._converter.force)
        suite_hash = assignment.suite_hash()
        coming = self._coming(course, names)

        def result_of(entry: Entry) -> SubmissionResult:
            with _warm.lent(suite_hash, *asked) as batch:
                batch.begin(entry)
                batch.ahead(coming)
                return batch.result(entry)[0]

        return Run(result_of, assignment.feedback, lambda result: store.write(out, result))

    def _entry(self, assignment: str, student: str) -> Entry:
        """Return the entry of a submission, as a batch would find it."""
        coursedir = self._converter.coursedir
        # Not resolved: where a link leads is none of the student's work.
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment))
        folder = folder.absolute()
        if folder.name != assignment:
            return Entry(student, folder)
        own = folder.parent
        return Entry(student, submission_in(own, assignment), doubled=all_of(own.parent, student))

    def _name_skipped(self, assignment: str) -> None:
        """Name the students to whom nbgrader does not come, because they have no notebook."""
        coursedir = self._converter.coursedir
        place = coursedir.submitted_directory
        asked_for = coursedir.format_path(place, coursedir.student_id, assignment)
        # As nbgrader itself looks for them.
        folders = glob.glob(asked_for)  # noqa: PTH207
        without = set(folders) - self._converter.assignments.keys()
        if skipped := [student for _, student in self._students(assignment, without)]:
            self.log.warning(
                "not marked by nbgrader, because no %s.ipynb is there: %s; "
                "`autograder grade submitted --gradebook URL` marks them, too",
                *(coursedir.notebook_id, ", ".join(skipped)),
            )

    def _students(self, assignment: str, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield submissions with their students, in order, but whom the course excludes."""
        coursedir = self._converter.coursedir
        pattern = coursedir.format_path(
            coursedir.submitted_directory, "(?P<student>.*)", re.escape(assignment), escape=True
        )
        excluded = ["", *coursedir.student_id_exclude.split(",")]
        for folder in sorted(folders):
            found = re.fullmatch(pattern, folder)
            if found and found["student"] not in excluded:
                yield folder, found["student"]

    def _coming(self, course: Path, names: Mapping[str, str]) -> Iterator[Entry]:
        """Yield the submissions that this run will process after this one, by nbgrader's rule."""
        converter, assignment = self._converter, names["assignment"]
        coursedir = converter.coursedir
        for folder, student in self._students(assignment, converter.assignments):
            if student <= names["student"]:
                continue
            done = coursedir.format_path(coursedir.autograded_directory, student, assignment)
            due = converter.force or not Path(done).exists()
            if not due:
                new, old = map(coursedir.get_existing_timestamp, (folder, done))
                due = new is not None and old is not None and new > old
            if due:
                entry = self._entry(assignment, student)
                if why_not(entry.path, course) is None:
                    yield entry


class _Warm:
    """The last batch, kept warm for a server that grades one submission at a time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._key: object = None
        self._batch: Batch | None = None
        self._timer: threading.Timer | None = None
        atexit.register(self._end)

    @contextlib.contextmanager
    def lent(
        self, suite_hash: str, assignment: Assignment, out: Path, *how: Any
    ) -> Iterator[Batch]:
        """Lend the batch that is made of this, to one user at a time; another batch is ended."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            # A changed suite is another.
            key = (suite_hash, assignment, out, *how)
            if self._batch is None or key != self._key:
                self._end()
                store.make_writable(out)
                store.sweep(out)
                self._key, self._batch = key, Batch(assignment, out, *how)
            try:
                yield self._batch
            finally:
                self._timer = threading.Timer(_IDLE_S, self._end)
                self._timer.daemon = True
                self._timer.start()

    def _end(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._batch is not None:
                self._batch.close()
            self._batch = None


_warm = _Warm()


class SaveGrades(SaveAutoGrades):  # type: ignore[misc]
    """Writes the marks of a result into the gradebook, as they are; the rest as nbgrader does.

    A manual mark is left alone. What could not be graded gets no mark and is flagged for manual
    grading: nbgrader itself would give full marks to a cell without an output. What is held for
    review is flagged, too.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Write all marks of a workbook in one transaction."""
        if _KEY not in resources:
            found: tuple[Any, Any] = super().preprocess(nb, resources)
            self._let_wait(nb.metadata.get(HANDED_IN, {}).get("waits", {}), resources["nbgrader"])
            return found
        names = resources["nbgrader"]
        marks, held, waits, result = resources[_KEY]
        with Gradebook(names["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(
                names["notebook"], names["assignment"], names["student"]
            )
            grades = {grade.name: grade for grade in notebook.grades}
            comments = {comment.name: comment for comment in notebook.comments}
            for cell in nb.cells:
                name = cell.metadata.get("nbgrader", {}).get("grade_id")
                if name in grades and is_grade(cell):
                    grade = grades[name]
                    own = is_solution(cell)
                    grade.auto_score = determine_grade(cell)[0] if own else marks.get(name)
                    if own and (name in waits or result.score is None):
                        grade.auto_score = None
                    # A manual mark stays, and is to be looked at again.
                    unsure = grade.manual_score is not None or grade.auto_score is None
                    grade.needs_manual_grade = unsure or name in held
                if name in comments:
                    unchanged = cell.metadata["nbgrader"]["checksum"] == compute_checksum(cell)
                    silent = unchanged and not is_task(cell)
                    words = waits.get(name, "No response." if silent else None)
                    comments[name].auto_comment = words
            gradebook.db.commit()
        return nb, resources

    def _let_wait(self, waits: Mapping[str, str], names: Mapping[str, str]) -> None:
        """Leave questions of an assignment that nbgrader executed to a person."""
        with Gradebook(names["db_url"]) as gradebook:
            notebook = gradebook.find_submission_notebook(
                names["notebook"], names["assignment"], names["student"]
            )
            for grade in (grade for grade in notebook.grades if grade.name in waits):
                grade.auto_score, grade.needs_manual_grade = None, True
            for comment in (one for one in notebook.comments if one.name in waits):
                comment.auto_comment = waits[comment.name]
            gradebook.db.commit()


def stamp(result: SubmissionResult, workbook: Path, outcomes: bool) -> dict[str, Any]:
    """Return what an autograded workbook was made from. While that is the same, it is up to date.

    Args:
        result: the result.
        workbook: the workbook that was handed in.
        outcomes: whether it shows outcomes of hidden criteria.
    """
    # Another one may have been taken for it, or hold answers.
    beside = sorted(path for path in workbook.parent.glob("*.ipynb") if path != workbook)
    read = [path.read_bytes() for path in (workbook, *beside) if path.is_file()]
    return {
        "graded": result.graded.model_dump() if result.graded else None,
        "workbook": hashlib.sha256(b"".join(read)).hexdigest(),
        "outcomes": outcomes,
    }


def fill_in(
    nb: Any, result: SubmissionResult, feedback: Feedback, now: datetime
) -> dict[str, float | None]:
    """Write a result into a workbook's grade cells.

    Args:
        nb: the workbook.
        result: what its modules got.
        feedback: what the assignment says about hidden criteria.
        now: the time, with its offset.

    Returns:
        The mark of every grade cell that no person marks; None where there is none.
    """
    marks: dict[str, float | None] = {}
    seen = shown(result, feedback, now)
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = []
        cell.execution_count = None
        if not is_grade(cell) or is_solution(cell):
            continue
        about = cell.metadata["nbgrader"]
        name, points = about["grade_id"], float(about["points"])
        mark, page = _graded(result, seen, name, points)
        marks[name] = mark
        cell.outputs.append(new_output("display_data", {"text/html": page}))
        if mark is not None:
            cell.execution_count = 1
            printed = {"text/plain": repr(mark)}
            cell.outputs.append(new_output("execute_result", printed, execution_count=1))
    return marks


def _graded(
    result: SubmissionResult, seen: Shown, name: str, points: float
) -> tuple[float | None, str]:
    """Return the mark of a grade cell, None where a person marks it, and what the cell shows."""
    component = result.components.get(name)
    if result.standing == "rejected":
        return 0.0, fault_page(f"The submission could not be taken in: {seen.message}")
    if result.score is None:
        return None, fault_page(seen.message or FAULT)
    if component is None:
        return None, fault_page(f"No component is called {name}; a person marks this.")
    must_agree(name, points, component.max_score)
    return float(component.score), component_page(seen.components[name], seen.withheld)


def must_agree(name: str, points: float, of_component: float) -> None:
    """See that a grade cell is worth what its component is.

    Raises:
        UsageError: it is not.
    """
    if of_component != points:
        raise UsageError(
            f"the grade cell {name} is worth {points:g} points in the gradebook, but "
            f"{of_component:g} in assignment.toml: give the cell {of_component:g} "
            "points in source/ and generate the assignment again"
        )
