"""How a submission came into a course: what our own collect notes, and what tells of another."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from autograder.judge.folders import NotOrdinary, TooMany, Wanted, files_in
from autograder.judge.intake import MAX_ENTRIES

CONFIG = "nbgrader_config.py"
# What nbgrader's `submit` puts beside the work; with the second, feedback finds its way back.
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"

EXCHANGE = """\
# Collecting follows no link and takes only what belongs to its student; feedback that cannot be
# released keeps back nobody else's.
c.ExchangeFactory.collect = "autograder.nbgrader.exchange.Collect"
c.ExchangeFactory.release_feedback = "autograder.nbgrader.exchange.ReleaseFeedback"
"""
COLLECT = "autograder.nbgrader.exchange.Collect"
_COLLECT = re.compile(r"""^\s*c\.ExchangeFactory\.collect\s*=\s*["']([\w.]+)["']""", re.MULTILINE)


def exchange_problem(course: Path) -> str | None:
    """Return how to repair a course that collects with nbgrader's own class; None if nothing is."""
    if not (course / CONFIG).is_file():
        return None
    named = _named(course)
    if named and not named.startswith("nbgrader."):
        return None
    return (
        "nbgrader's own collect follows links to files of whoever collects: add to "
        f"{course / CONFIG}: {EXCHANGE.splitlines()[2]}"
    )


def _named(course: Path) -> str:
    """Return the class that a course's own configuration collects with, or ""."""
    found = _COLLECT.findall((course / CONFIG).read_text(encoding="utf-8", errors="replace"))
    return found[-1] if found else ""


def note(folder: Path) -> None:
    """Note beside a submission that our collect has put it there."""
    path = _note_of(folder)
    # Another grader's cannot be written to, but replaced.
    path.unlink(missing_ok=True)
    path.write_text(_hash_of(folder), encoding="ascii")
    path.chmod(0o660 if folder.stat().st_mode & stat.S_IWGRP else 0o600)


def was_followed(folder: Path) -> bool:
    """Return whether a submission came from the exchange, but not through our collect."""
    if not (folder / SECRET).is_file():
        return False
    try:
        return _note_of(folder).read_text(encoding="ascii") != _hash_of(folder)
    except (OSError, ValueError):
        return True


def _note_of(folder: Path) -> Path:
    # Not in the folder: what lies there may be the student's.
    return folder.with_name(f".{folder.name}.collected")


def _hash_of(folder: Path) -> str:
    secret = folder / SECRET
    return hashlib.sha256(secret.read_bytes()).hexdigest() if secret.is_file() else "-"


def why_not(folder: Path, course: Path | None = None) -> str | None:
    """Return why a submission in a course is not marked; None if it is, or is in no course.

    Args:
        folder: where its files are.
        course: the course; None if `folder` is in its `submitted/<student>/`.
    """
    folder = folder.absolute()
    course = course or folder.parents[min(2, len(folder.parents) - 1)]
    # Archives, and links in a folder's place, are refused where submissions are taken in.
    if not (course / CONFIG).is_file() or folder.is_symlink() or not folder.is_dir():
        return None
    again = f"collect it with `nbgrader collect {folder.name} --update`"
    may_own = _graders(course)
    try:
        if not may_own(folder.stat().st_uid):
            return f"its folder belongs to an account that does not grade: {again}, or copy it"
        for name, file in files_in(folder, Wanted(_any, _any, MAX_ENTRIES)):
            if isinstance(file, NotOrdinary):
                return f"{name} {file}: {again}, or put the file itself there"
            if not may_own(os.fstat(file.fileno()).st_uid):
                return f"{name} belongs to an account that does not grade: {again}, or copy it"
    except TooMany:
        return f"it holds more than {MAX_ENTRIES} files and folders"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    # Another collect, of a JupyterHub's exchange, may know no links.
    another = _named(course) and exchange_problem(course) is None and _named(course) != COLLECT
    if another or not was_followed(folder):
        return None
    problem = exchange_problem(course)
    first = f"{problem}, then " if problem else ""
    return (
        f"nbgrader's own collect has put it there: {first}{again}; "
        f"if the exchange has it no more, look through its files and delete its {SECRET}"
    )


def _any(name: str) -> bool:
    return True


def _graders(course: Path) -> Callable[[int], bool]:
    """Return whether an account may be a grader of a course, by its number."""
    if os.name != "posix":
        return _everybody
    import grp
    import pwd

    about = course.stat()
    known = {0, os.geteuid(), about.st_uid}
    if about.st_mode & stat.S_IWGRP:
        with contextlib.suppress(KeyError):
            members = set(grp.getgrgid(about.st_gid).gr_mem)
            known |= {
                user.pw_uid
                for user in pwd.getpwall()
                if user.pw_gid == about.st_gid or user.pw_name in members
            }
    return known.__contains__


def _everybody(account: int) -> bool:
    return True
