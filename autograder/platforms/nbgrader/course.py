"""Make a course folder in which nbgrader's own commands do the rest."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder import private
from autograder.archives import is_archive
from autograder.assignment import Assignment
from autograder.authoring import release as releasing
from autograder.authoring import stubs, workbook
from autograder.authoring.folders import must_be_new
from autograder.authoring.selftest import must_earn_nothing
from autograder.authoring.stubs import must_be_filled_in
from autograder.errors import UsageError
from autograder.grading.entries import Listing, discover
from autograder.platforms.nbgrader.collected import (
    CONFIG,
    EXCHANGE,
    exchange_problem,
    outdated,
)
from autograder.project import FOLDERS, ROOT_VARIABLE, find_root

_CONFIG = '''\
"""nbgrader's configuration for this course; see the README of gradeformer.

The project that grades, with its solutions, is not in this folder. c.GradeSubmission.root names it,
if it is set; else the environment variable {variable}.
"""

c = get_config()  # noqa: F821 - nbgrader defines it

c.CourseDirectory.course_id = {course_id}

# Autograding brings the workbook back to the cells that were released, then grades the modules
# beside it in a sandbox. No kernel is started: no student's code runs in nbgrader's process.
c.Autograde.sanitize_preprocessors = [
    "autograder.platforms.nbgrader.cells.RestoreCells",
]
c.Autograde.exporter_class = "autograder.platforms.nbgrader.cells.WorkbookExporter"
c.Autograde.autograde_preprocessors = [
    "autograder.platforms.nbgrader.preprocessors.GradeSubmission",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.platforms.nbgrader.preprocessors.SaveGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# What students wrote is cleaned after it is rendered, in formgrader as in their feedback, whose
# pages run no script but MathJax and load nothing.
c.HTMLExporter.filters = {{
    "markdown2html": "autograder.platforms.nbgrader.pages.harmless_markdown",
    "highlight_code": "autograder.platforms.nbgrader.pages.harmless_code",
}}
c.GenerateFeedback.exporter_class = "autograder.platforms.nbgrader.pages.FeedbackExporter"

# The students' own files, which the stubs in source/ must not replace.
c.Autograde.exclude_overwriting = {exclude}

# What an answer says before the student has written one.
c.ClearSolutions.text_stub = "*Your answer:*"

# Assignments of this course that are not gradeformer's; nbgrader runs their notebooks, and with
# them the students' code, in a kernel.
c.GradeSubmission.executed = []
'''
_CONFIG_ROOT = """
# The folder of the project that grades, with its assignments/ and reference/.
{option} = {root!r}
"""
_CONFIG_GROUP = """
# Several people mark this course: what nbgrader writes is their group's, and nobody else's.
import os  # noqa: E402

os.umask(0o007)
c.CourseDirectory.groupshared = True
"""
_OPTION = "c.GradeSubmission.root"


def init(
    assignments: Sequence[Assignment],
    folder: Path,
    course_id: str | None = None,
    group: str | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> list[str]:
    """Write a course folder and return the paths of its files.

    Args:
        assignments: what the course hands out, of one project.
        folder: a new folder, apart from the solutions.
        course_id: nbgrader's name for the course; by default that of the folder.
        group: whose members mark the course; nobody but its owner does otherwise, unless the folder
            is there and is a group's.
        tell: is told what is being done.

    Raises:
        UsageError: nbgrader is missing, folder or id cannot be used, or the public part of an
            assignment is not up to date.
    """
    place = folder.resolve()
    named = place.name if course_id is None else course_id
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", named):
        raise UsageError(
            f"{named!r} cannot be a course id: give one of letters, digits, '-', '_' and '.' "
            "with --course-id"
        )
    _need_nbgrader()
    tell("reading the assignment")
    must_be_new(folder, "give a new folder for the course")
    for assignment in assignments:
        for inside in (assignment.public, assignment.secret):
            if place.is_relative_to(inside) or inside.is_relative_to(place):
                raise UsageError(
                    f"{folder} lies around or in {inside}: give a folder outside of it"
                )
        must_be_filled_in(assignment)
    for assignment in assignments:
        must_earn_nothing(assignment, tell)
    known = {
        one.name: releasing.known_numbers(one, tell, must_not_have_drifted) for one in assignments
    }
    for assignment in assignments:
        releasing.prepare(assignment, tell)
    try:
        # nbgrader leaves what it collects open to everybody; the course folder is the door.
        private.close_folder(folder, group)
        with private.umask_of(folder):
            for assignment in assignments:
                source = folder / "source" / assignment.name
                releasing.release(assignment, source, lambda one: known[one.name])
                carrier = assignment.public / "workbook.ipynb"
                (source / carrier.name).write_bytes(carrier.read_bytes())
            config = _config(assignments, named, private.is_shared(folder))
            (folder / CONFIG).write_text(config, encoding="utf-8")
            # Where nbgrader keeps it by itself: the code that makes it gives it a mode of its own.
            (folder / "gradebook.db").touch()
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def must_not_have_drifted(assignment: Assignment) -> None:
    """See that what students get is what the solutions give.

    Raises:
        UsageError: it is not.
    """
    drifted = [*stubs.drifted(assignment), *workbook.drifted(assignment)]
    if drifted:
        raise UsageError(
            f"{', '.join(drifted)} differ from what the solutions give: run "
            f"`autograder stubs {assignment.name}` and `autograder workbook {assignment.name}`"
        )


def _config(assignments: Sequence[Assignment], course_id: str, shared: bool) -> str:
    names = {one.name: sorted(f"{part}.py" for part in one.totals) for one in assignments}
    config = _CONFIG.format(
        course_id=json.dumps(course_id),
        exclude=json.dumps(names, indent=4),
        variable=ROOT_VARIABLE,
    )
    config += f"\n{EXCHANGE}"
    if shared:
        config += _CONFIG_GROUP
    if named_by(assignments[0]) == CONFIG:
        config += _CONFIG_ROOT.format(option=_OPTION, root=str(assignments[0].root))
    return config


def course_of(submitted: Path) -> Path:
    """Return the course that a folder of submissions belongs to.

    Raises:
        UsageError: it belongs to none, or its configuration is outdated.
    """
    course = submitted.resolve().parent
    if not (course / CONFIG).is_file():
        raise UsageError(
            f"there is no {CONFIG} in {course}: with --gradebook, give the submitted/ folder of a "
            "course that nbgrader runs"
        )
    if problem := outdated(course):
        raise UsageError(problem)
    return course


def assignment_in(submitted: Path, root: Path) -> str:
    """Return the name of the project's assignment that was handed in.

    Raises:
        UsageError: there is none, or more than one.
    """
    known = sorted(path.parent.name for path in (root / "assignments").glob("*/assignment.toml"))
    found = [name for name in known if next(submitted.glob(f"*/{name}"), None) is not None]
    if len(found) != 1:
        what = f"holds {' and '.join(found)}" if found else f"holds none of {', '.join(known)}"
        raise UsageError(f"{submitted} {what}: name the assignment with --assignment")
    return found[0]


def handed_in(submitted: Path, assignment: str) -> Listing:
    """Return the submissions of an assignment.

    Who has handed in something else has no mark for this one, not even zero.

    Raises:
        UsageError: nobody has handed it in.
    """
    listing = discover(submitted, assignment)
    entries = [
        entry
        for entry in listing.entries
        if entry.path.name == assignment and entry.path.parent.parent == submitted
    ]
    doubled = {
        name: names
        for name, names in listing.doubled.items()
        if (submitted / name / assignment).is_dir()
    }
    if not entries and not doubled:
        raise UsageError(f"{submitted} holds no submission of {assignment}: collect some first")
    return Listing(entries, doubled=doubled)


def passed_over(submitted: Path, assignment: str) -> list[str]:
    """Say which archives, links and hidden names lie where nbgrader has folders, unmarked."""
    there = (*submitted.glob("*"), *submitted.glob(f"*/{assignment}.*"))
    found = [path for path in there if is_archive(path.name)]
    found += [path for path in submitted.iterdir() if path.is_symlink()]
    wanted = f"nbgrader wants it unpacked, as <student>/{assignment}/"
    said = [f"{path.relative_to(submitted).as_posix()}; {wanted}" for path in found]
    hidden = submitted.glob(f".*/{assignment}")
    said += [f"{path.parent.name}; no student's name begins with a dot" for path in hidden]
    return sorted(said)


def complaints(folder: Path, root: Path | None) -> list[str]:
    """Say in a sentence each what is wrong with who may read, share and collect in a course.

    Args:
        folder: the course folder.
        root: the project that grades it, where the user names one.

    Raises:
        UsageError: it is not a course, nbgrader is missing, or the course has no project.
    """
    if not (folder / CONFIG).is_file():
        raise UsageError(f"there is no {CONFIG} in {folder}: give the folder of a course")
    course = folder.resolve()
    secret = project_of(course, root) / FOLDERS[1]
    found = [private.exposed([place]) for place in (secret, course)]
    if app_of(course).coursedir.groupshared:
        found.append(private.unshared(course))
    found.append(exchange_problem(course) or "")
    return [words for words in found if words]


def app_of(course: Path) -> Any:
    """Start nbgrader in a course, which reads its configuration."""
    # An extra, and slow to import.
    from nbgrader.apps import AutogradeApp

    app = AutogradeApp(log_level=logging.ERROR)
    app.initialize([], root=str(course))
    app.log_level = logging.ERROR
    return app


def _need_nbgrader() -> None:
    if importlib.util.find_spec("nbgrader") is None:
        raise UsageError("nbgrader is not installed: pip install 'gradeformer[nbgrader]'")


def named_by(assignment: Assignment) -> str:
    """Return what names the project to a course made now: the environment, or its own file."""
    variable = os.environ.get(ROOT_VARIABLE, "")
    if variable and Path(variable).resolve() == assignment.root:
        return ROOT_VARIABLE
    return CONFIG


def project_of(course: Path, root: Path | None) -> Path:
    """Return the project that grades a course, as nbgrader's step finds it.

    Args:
        course: the course folder.
        root: what the user names, which comes before what the course's configuration does.

    Raises:
        UsageError: nbgrader is missing, or none of the places has a project.
    """
    _need_nbgrader()
    configured = "" if root else str(app_of(course).config.GradeSubmission.get("root", ""))
    # Relative to the course: nbgrader stands there when it grades.
    named = course / configured if configured else root
    return find_root(named, f"--root or {_OPTION}")
