"""Writing the pages: a folder with `index.html` and a page a student, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import random
import re
import shutil
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder import private
from autograder.errors import UsageError, repairable
from autograder.grading import store
from autograder.grading.store import Lazy
from autograder.reports.pages.group import class_page
from autograder.reports.pages.statistics import Gathered, Nearest
from autograder.reports.pages.student import student_page
from autograder.reports.shown import About
from autograder.results import Held, SubmissionResult, silent

INDEX, STUDENTS = "index.html", "students"
# How a folder of ours is known again.
_OURS = b'<meta name="generator" content="gradeformer report">'
_HEAD = 4096
# Ids that are file names on any system; Windows keeps some names for devices.
_PLAIN = re.compile(
    r"(?!(con|prn|aux|nul|com\d|lpt\d)(\.|\Z))[A-Z0-9]([A-Z0-9._-]{0,78}[A-Z0-9_-])?\Z",
    re.ASCII | re.IGNORECASE,
)
_LONGEST = 40


def write_pages(
    results: Sequence[SubmissionResult],
    out: Path,
    about: About,
    earlier: Mapping[str, SubmissionResult] | None = None,
    anonymous: bool = False,
    near: Sequence[Nearest] = (),
) -> Path:
    """Write the pages of a class in place of those that are there, and return the class's.

    Args:
        results: the class.
        out: the folder of the pages.
        about: what they are of.
        earlier: earlier results by id, to compare with.
        anonymous: whether they name nobody, and show nothing that students wrote.
        near: for mistakes without a name, the changes of a solution that fail as they do. The
            class's page alone shows them.

    Raises:
        UsageError: `out` holds something else, or cannot be written.
    """
    must_be_ours(out)
    # Results that lie in files are read one by one, and no earlier than their pages are written.
    files = results.keys if isinstance(results, Lazy) else [(r.submission, None) for r in results]
    ids = [name for name, _ in files]
    order, called = list(range(len(ids))), list(ids)
    if anonymous:
        # The order shall tell nothing, and not be guessed from the ids.
        random.SystemRandom().shuffle(order)
        width = len(str(len(order)))
        called = [f"student-{number:0{width}d}" for number in range(1, len(order) + 1)]
    # What a link names is replaced, and not the link.
    place = out.resolve()
    made, old = (place.with_name(f".{os.getpid()}.{uuid.uuid4().hex}.tmp") for _ in range(2))
    try:
        store.sweep(place.parent)
        private.make_folder(made.parent)
        with private.umask_of(made.parent):
            _fill(
                made, (results[row] for row in order), called, about, earlier or {}, anonymous, near
            )
        if place.is_dir():
            place.rename(old)
        made.rename(place)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        if old.is_dir():
            old.rename(place)
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
    with repairable(f"--out {out} cannot be read", "give a new folder"):
        names = {path.name for path in out.iterdir()} if out.is_dir() else set()
        index = out / INDEX
        ours = index.is_file() and _OURS in index.read_bytes()[:_HEAD]
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
    called: Sequence[str],
    about: About,
    earlier: Mapping[str, SubmissionResult],
    anonymous: bool,
    near: Sequence[Nearest],
) -> None:
    files = files_of(called)
    gathered = Gathered()
    (made / STUDENTS).mkdir(parents=True)
    for result, name, file in zip(results, called, files, strict=True):
        before = earlier.get(result.submission)
        other_suite = before is not None and _suite(before) != _suite(result)
        if anonymous:
            result = without_names(result, name)
            before = before and without_names(before, name)
        gathered.add(result)
        then = about.shown(before) if before else None
        text = student_page(about.shown(result), then, about.title, about.now, other_suite)
        (made / STUDENTS / file).write_bytes(text.encode("utf-8", "replace"))
    index = class_page(gathered, files, about.title, about.now, near)
    (made / INDEX).write_bytes(index.encode("utf-8", "replace"))


def _suite(result: SubmissionResult) -> str:
    return "" if result.graded is None else result.graded.suite_hash


def files_of(ids: Sequence[str]) -> list[str]:
    """Return a file name for every id: its own where any system takes it, else one made of it.

    No two are the same, even where capitals are not told apart.
    """
    counts = Counter(name.casefold() for name in ids)
    own = (counts[name.casefold()] == 1 and _PLAIN.match(name) for name in ids)
    return [f"{name if its else _made(name)}.html" for name, its in zip(ids, own, strict=True)]


def _made(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "-", name)[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    # No id that is its own file's name has such a sign.
    return f"{words or 'student'}~{digest}"


def without_names(result: SubmissionResult, called: str) -> SubmissionResult:
    """Return a result under another id, without anything that students or their code wrote.

    A name may be in it. Points, outcomes, titles and known mistakes are the course's, and stay.
    """
    return SubmissionResult(
        submission=called,
        assignment=result.assignment,
        status=result.status,
        score=result.score,
        max_score=result.max_score,
        components={name: silent(c, c.criteria) for name, c in result.components.items()},
        # Held components stay known as held; the places name the student's own files.
        review=[
            Held(component=name, file="", line=0, what="")
            for name in dict.fromkeys(place.component for place in result.review)
        ],
        sandbox="",
    )
