"""Where a course keeps submissions and results, and which submissions may be marked.

A submission may be marked if our own `Collect` put it there, or somebody by hand. nbgrader's own
collect follows links, so that what it copied may be a file of the person who collects.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import stat
from pathlib import Path

from autograder import private
from autograder.judge.folders import NotOrdinary, TooMany, Wanted, files_in
from autograder.judge.intake import MAX_ENTRIES

CONFIG = "nbgrader_config.py"
# nbgrader's `submit` puts these beside the work; by the second, feedback finds its way back.
TIMESTAMP, SECRET = "timestamp.txt", "submission_secret.txt"
COLLECT = "autograder.platforms.nbgrader.exchange.Collect"
_SETTING = f'c.ExchangeFactory.collect = "{COLLECT}"'
EXCHANGE = f"""\
# Collecting follows no link and takes only what belongs to its student; feedback that cannot be
# released keeps back nobody else's.
{_SETTING}
c.ExchangeFactory.release_feedback = "autograder.platforms.nbgrader.exchange.ReleaseFeedback"
"""
# How our classes were called before.
_OLD, _NEW = "autograder.nbgrader.", "autograder.platforms.nbgrader."
_COLLECT = re.compile(r"""^\s*c\.ExchangeFactory\.collect\s*=\s*["']([\w.]+)["']""", re.MULTILINE)


def results_folder(course: Path, assignment: str) -> Path:
    """Return where the results of a course's assignment are kept."""
    return course / "gradeformer" / assignment


def outdated(course: Path) -> str | None:
    """Return how to repair a course whose configuration has old names of our classes, or None."""
    path = course / CONFIG
    if not path.is_file() or _OLD not in path.read_text(encoding="utf-8", errors="replace"):
        return None
    command = shlex.join(["sed", "-i", f"s/{re.escape(_OLD)}/{_NEW}/", str(path)])
    return f"{path} names classes by their old path: write {_NEW} instead of {_OLD}: {command}"


def exchange_problem(course: Path) -> str | None:
    """Return how to repair a course that collects with nbgrader's own class, or None."""
    if not (course / CONFIG).is_file():
        return None
    if problem := outdated(course):
        return problem
    named = _named(course)
    if named and not named.startswith("nbgrader."):
        return None
    return (
        "nbgrader's own collect follows links to files of the person who collects: add to "
        f"{course / CONFIG}: {_SETTING}"
    )


def _named(course: Path) -> str:
    """Return the class that a course's configuration collects with, or ""."""
    found = _COLLECT.findall((course / CONFIG).read_text(encoding="utf-8", errors="replace"))
    return found[-1] if found else ""


def note(folder: Path) -> None:
    """Note beside a submission that our collect has put it there."""
    private.write_file(_note_of(folder), _hash_of(folder).encode())
    if private.is_shared(folder):
        # The folder above may be as another program made it.
        _note_of(folder).chmod(0o660)


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
    """Return why a submission in a course may not be marked; None if it may, or is in no course.

    Args:
        folder: where its files are.
        course: the course; None if `folder` is in its `submitted/<student>/`.
    """
    folder = folder.absolute()
    course = course or folder.parents[min(2, len(folder.parents) - 1)]
    # Intake refuses archives, and links in the place of a folder.
    if not (course / CONFIG).is_file() or folder.is_symlink() or not folder.is_dir():
        return None
    again = f"collect it with `nbgrader collect {folder.name} --update`"
    graders = _graders(course)
    try:
        if folder.stat().st_uid not in graders:
            return f"its folder belongs to an account that does not grade: {again}, or copy it"
        everything = Wanted(lambda name: True, lambda name: True, MAX_ENTRIES)
        for name, file in files_in(folder, everything):
            if isinstance(file, NotOrdinary):
                return f"{name} {file}: {again}, or put the file itself there"
            if os.fstat(file.fileno()).st_uid not in graders:
                return f"{name} belongs to an account that does not grade: {again}, or copy it"
    except TooMany:
        return f"it holds more than {MAX_ENTRIES} files and folders"
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    problem = exchange_problem(course)
    # Another class, of a JupyterHub's exchange, may know no links.
    another = problem is None and _named(course) not in ("", COLLECT)
    if another or not was_followed(folder):
        return None
    first = f"{problem}, then " if problem else ""
    return (
        f"nbgrader's own collect has put it there: {first}{again}; "
        f"if the exchange has it no more, look through its files and delete its {SECRET}"
    )


def _graders(course: Path) -> set[int]:
    """Return the numbers of the accounts that may grade a course."""
    if os.name != "posix":
        # Windows gives every file this one.
        return {0}
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
    return known
