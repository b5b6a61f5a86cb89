"""Writing the pages: a folder with `index.html` and a page a student, whole or not at all."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder import private
from autograder.errors import UsageError
from autograder.grading import store
from autograder.reports.pages.gathered import Gathering
from autograder.reports.pages.group import class_page
from autograder.reports.pages.names import anonymous, files_of, ids_of, without_names
from autograder.reports.pages.student import student_page
from autograder.reports.shown import shown
from autograder.results import SubmissionResult
from autograder.settings import Feedback

INDEX, STUDENTS = "index.html", "students"
# How a folder of ours is known again.
_OURS = b'<meta name="generator" content="gradeformer report">'
_HEAD = 4096


@dataclass(frozen=True)
class About:
    """What pages say beside the results.

    Attributes:
        title: the assignment's.
        feedback: what its students see of hidden criteria.
        now: the time, with its offset.
        earlier: results of an earlier attempt by id, with which students' pages compare.
        anonymous: whether the pages name nobody.
    """

    title: str
    feedback: Feedback
    now: datetime
    earlier: Mapping[str, SubmissionResult] = field(default_factory=dict)
    anonymous: bool = False


def write_pages(results: Sequence[SubmissionResult], out: Path, about: About) -> Path:
    """Write the pages of a class in place of those that are there, and return the class's.

    Raises:
        UsageError: `out` holds something else, or cannot be written.
    """
    must_be_ours(out)
    earlier, ids = about.earlier, ids_of(results)
    named: Iterable[SubmissionResult] = results
    if about.anonymous:
        named, called = anonymous(results, ids)
        ids = list(called.values())
        earlier = {
            called[name]: without_names(result, called[name])
            for name, result in earlier.items()
            if name in called
        }
    # What a link names is replaced, and not the link.
    place = out.resolve()
    beside = f".{place.name[:100]}."
    made = place.with_name(f"{beside}{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        _sweep(place.parent, beside)
        private.make_folder(made.parent)
        with private.umask_of(made.parent):
            _fill(made, named, ids, about, earlier)
        _replace(made, place)
    except OSError as error:
        raise UsageError(
            f"--out {out} cannot be written ({error.strerror}): give a folder in one that is there "
            "and that you can write to"
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return out / INDEX


def must_be_ours(out: Path) -> None:
    """Refuse a folder that holds anything but pages of ours, which are replaced.

    Raises:
        UsageError: it does.
    """
    if not out.name and not out.absolute().name:
        raise UsageError(f"--out {out} is no folder of its own: give a new one")
    try:
        names = {path.name for path in out.iterdir()} if out.is_dir() else set()
        index = out / INDEX
        ours = index.is_file() and _OURS in index.read_bytes()[:_HEAD]
    except OSError as error:
        raise UsageError(
            f"--out {out} cannot be read ({error.strerror}): give a new folder"
        ) from error
    if names and not (names <= {INDEX, STUDENTS} and ours):
        raise UsageError(
            f"--out {out} holds other files, and pages replace all that is in their folder: "
            "give a new one"
        )
    if not out.is_dir() and (out.exists() or out.is_symlink()):
        raise UsageError(f"--out {out} is a file: give a new folder")


def _fill(
    made: Path,
    results: Iterable[SubmissionResult],
    ids: Sequence[str],
    about: About,
    earlier: Mapping[str, SubmissionResult],
) -> None:
    files = files_of(ids)
    gathering = Gathering()
    (made / STUDENTS).mkdir(parents=True)
    for result, file in zip(results, files, strict=True):
        gathering.add(result)
        before = earlier.get(result.submission)
        seen = shown(result, about.feedback, about.now)
        then = None if before is None else shown(before, about.feedback, about.now)
        text = student_page(seen, then, about.title, about.now)
        (made / STUDENTS / file).write_bytes(text.encode("utf-8", "replace"))
    index = class_page(gathering.done(), files, about.title, about.now)
    (made / INDEX).write_bytes(index.encode("utf-8", "replace"))


def _sweep(folder: Path, beside: str) -> None:
    """Remove what a run that was killed left half written, or had just replaced."""
    for path in folder.glob(".*.tmp*"):
        writer, *rest = path.name.removeprefix(beside).split(".")
        ours = path.name.startswith(beside) and rest[1:] in (["tmp"], ["tmp", "old"])
        if ours and writer.isdigit() and not store.runs(int(writer)):
            shutil.rmtree(path, ignore_errors=True)


def _replace(made: Path, place: Path) -> None:
    """Put a folder in the place of another one, of which nothing stays."""
    old = made.with_name(f"{made.name}.old")
    if place.is_dir():
        place.rename(old)
    try:
        made.rename(place)
    except OSError:
        if old.is_dir():
            old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)
