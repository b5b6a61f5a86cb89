"""nbgrader's exchange, where it copies what students own, or ends for all because of one.

`submit`, `fetch_assignment` and `fetch_feedback` stay nbgrader's: as the student, they copy the
student's own files, or instructors', whose code the student runs anyway.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import shutil
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import parse_utc

from autograder import private
from autograder.judge.folders import (
    BY_DESCRIPTOR,
    NotOrdinary,
    TooMany,
    Wanted,
    files_in,
    open_folder,
)
from autograder.judge.intake import MAX_ENTRIES
from autograder.platforms.nbgrader.collected import SECRET, TIMESTAMP, note, was_followed
from autograder.text import clean

# Of what is left out of one submission, these are named.
_NAMED = 20
_DEEPEST = 20
_PIECE = 1 << 20
_LONGEST_TIME = 100


class Collect(ExchangeCollect):  # type: ignore[misc]
    """Collects ordinary files of the student who is said to have submitted, and nothing else.

    With `check_owner = False`, for courses whose students are not accounts of the machine, all
    files have to belong to the owner of their folder.
    """

    def init_src(self) -> None:
        """Choose every student's newest submission, or the newest one in time."""
        if not BY_DESCRIPTOR:
            self.fail("This system cannot open files without following links: collect on another")
        super().init_src()

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """Read the name of a submission; one with a fault hides nobody's work."""
        name = Path(path).name
        student, time, owner = name, datetime.min, -1
        try:
            student, assignment, when = name.rsplit("+", 3)[:3]
            time, owner = parse_utc(when), os.lstat(path).st_uid
            plain = student.isprintable() and not student.startswith(".")
            right = plain and assignment == self.coursedir.assignment_id
            fault = self._disowned(student, owner) if right else "its name is not one of `submit`"
        except (ValueError, OverflowError, TypeError, OSError):
            fault = "its name is not STUDENT+ASSIGNMENT+TIME, or it is gone"
        found = {"filename": name, "timestamp": time, "owner": owner, "fault": fault}
        return {"username": name if fault else student, **found}

    def _disowned(self, student: str, owner: int) -> str:
        """Return why a folder cannot be a student's, or ""."""
        import pwd

        try:
            if not self.check_owner or owner == pwd.getpwnam(student).pw_uid:
                return ""
            name = pwd.getpwuid(owner).pw_name
        except KeyError:
            name = f"account {owner}"
        return (
            f"it is said to be {student}'s, but belongs to {name} (if your students are not "
            "accounts of this machine: c.ExchangeCollect.check_owner = False)"
        )

    def copy_files(self) -> None:
        """Collect all that is due; a submission that cannot be is named, and the others go on."""
        faults = {}
        with open_folder(self.inbound_path) as inbound:
            for record in sorted(self.src_records, key=lambda found: str(found["filename"])):
                try:
                    fault = record["fault"] or self._collect(record, inbound)
                except TooMany:
                    fault = f"it holds more than {MAX_ENTRIES} files and folders"
                except OSError as error:
                    where = f": {error.filename}" if error.filename else ""
                    fault = f"it cannot be copied ({error.strerror}{where})"
                if fault:
                    faults[record["filename"]] = fault
            # nbgrader's pattern skips them.
            for name in os.listdir(inbound):  # noqa: PTH208 - a descriptor
                if name.startswith(".") and f"+{self.coursedir.assignment_id}+" in name:
                    faults[name] = "no student's name begins with a dot"
        for name, fault in faults.items():
            self.log.error("NOT COLLECTED: %s: %s", _shown(name), fault)
        self.log.info("%d submissions, %d not collected", len(self.src_records), len(faults))

    def _collect(self, record: dict[str, Any], inbound: int) -> str:
        """Collect a submission, if it is due; return why it cannot be, or ""."""
        course, student = self.coursedir, record["username"]
        path = course.format_path(course.submitted_directory, student, course.assignment_id)
        dest, part = Path(path), Path(path).with_name(f".{course.assignment_id}.part")
        if not self._is_due(dest, record["timestamp"]):
            more = "no newer one to collect" if self.update else "use --update to update it"
            self.log.info("There is a submission of %s already: %s", student, more)
            return ""
        with contextlib.ExitStack() as stack:
            place = stack.enter_context(open_folder(record["filename"], inbound))
            if os.fstat(place).st_uid != record["owner"]:
                return "it was exchanged for another"
            shutil.rmtree(part, ignore_errors=True)
            stack.callback(shutil.rmtree, part, ignore_errors=True)
            left_out = _copy(place, part, record["owner"], course)
            self._put(part, dest, student, record["timestamp"])
        for name, why in [*left_out.items()][:_NAMED]:
            self.log.error("LEFT OUT of %s's submission: %s %s", student, _shown(name), why)
        if len(left_out) > _NAMED:
            self.log.error("LEFT OUT of %s's submission: %d in all", student, len(left_out))
        self.log.info("Collected: %s %s", student, course.assignment_id)
        return ""

    def _put(self, part: Path, dest: Path, student: str, time: datetime) -> None:
        """Put what was copied in its place."""
        if _time_of(part) != time:
            self.log.error("%s's timestamp.txt is not the time of submission: corrected", student)
            said = f"{time:%Y-%m-%d %H:%M:%S.%f} UTC"
            (part / TIMESTAMP).write_text(said, encoding="ascii")
        if not any(part.glob("*.ipynb")):
            self.log.error("%s's submission has no notebook: nbgrader autograde skips it", student)
        if dest.exists():
            shutil.rmtree(dest)
        part.rename(dest)
        note(dest)

    def _is_due(self, dest: Path, time: datetime) -> bool:
        if not dest.is_dir():
            return True
        said = _time_of(dest)
        newer = was_followed(dest) or said is None or said < time
        return bool((self.update and newer) or (self.before_duedate and said != time))


def _copy(place: int, dest: Path, owner: int, course: Any) -> dict[str, str]:
    """Copy what may be copied of a submission; return why the rest is left out, by its path.

    Args:
        place: a descriptor of the submission's folder, to which its student can write.
        dest: a folder that does not exist yet.
        owner: the account that the files have to belong to.
        course: nbgrader's CourseDirectory, which says what is ignored and how much is too much.

    Raises:
        TooMany: there are more entries than are looked at.
        OSError: what was copied cannot be written.
    """
    left_out: dict[str, str] = {}
    space = 1000 * course.max_dir_size

    def is_entered(name: str) -> bool:
        if name.count("/") >= _DEEPEST:
            left_out[name] = f"lies in more than {_DEEPEST} folders"
        return name not in left_out and not _matches(name, course.ignore)

    def is_opened(name: str) -> bool:
        return _matches(name, course.include) and not _matches(name, course.ignore)

    # nbgrader's word counts, whatever the modes of folders that somebody else made.
    private.make_folder(dest, shared=course.groupshared or None)
    for name, file in files_in(place, Wanted(is_opened, is_entered, MAX_ENTRIES, owner)):
        if isinstance(file, NotOrdinary):
            left_out[name] = str(file)
            continue
        if not all(_is_plain(part) for part in name.split("/")):
            left_out[name] = "has a name with '..', a backslash or what cannot be printed"
            continue
        most, size = min(1000 * course.max_file_size, space), 0
        private.make_folder((dest / name).parent)
        with private.open_file(dest / name) as made:
            while size <= most and (piece := file.read(_PIECE)):
                size += made.write(piece)
        if size > most:
            (dest / name).unlink()
            left_out[name] = "is more than c.CourseDirectory.max_file_size or max_dir_size"
        else:
            space -= size
    return left_out


def _matches(name: str, patterns: Sequence[str]) -> bool:
    base = PurePosixPath(name).name
    return any(fnmatch.fnmatch(base, pattern) for pattern in patterns)


def _is_plain(part: str) -> bool:
    return part.isprintable() and not part.startswith("..") and "\\" not in part


def _shown(name: str) -> str:
    return clean(name.encode(errors="backslashreplace").decode(), 200)


class ReleaseFeedback(ExchangeReleaseFeedback):  # type: ignore[misc]
    """Releases what can be released; nbgrader's own ends where one submission cannot."""

    def copy_files(self) -> None:
        """Release the feedback of every student whose submission came through the exchange."""
        course = self.coursedir
        before = course.student_id_exclude
        excluded, students = set(before.split(",")), Path(self.src_path).parent
        for place in sorted(students.parent.glob(students.name)):
            student, folder = place.name, place / course.assignment_id
            if os.access(place, os.X_OK) and not folder.exists():
                continue
            if student not in excluded and (missing := _unreadable(folder)):
                self.log.error(
                    "NOT RELEASED: feedback for %s: nbgrader's submit left no %s that can be "
                    "read: hand over %s another way",
                    *(_shown(student), missing, folder),
                )
                excluded.add(student)
        course.student_id_exclude = ",".join(sorted(excluded - {""}))
        try:
            super().copy_files()
        finally:
            course.student_id_exclude = before


def _unreadable(folder: Path) -> str:
    """Name the file that a feedback needs and does not have; "" if it has both."""
    for name in (TIMESTAMP, SECRET):
        try:
            if not (folder / name).read_text().strip():
                return name
        except (OSError, ValueError):
            return name
    return ""


def _time_of(folder: Path, log: Any = None) -> datetime | None:
    """Return when a submission was handed in, in UTC; None if it does not say.

    Its timestamp.txt, which a student can write to, may hold no time: that is logged.
    """
    path = folder / TIMESTAMP
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_TIME).decode().strip()
        return parse_utc(text) if text else None
    # dateutil's own among them; a number too large for a date, a zone that is none.
    except (ValueError, OverflowError, TypeError, OSError):
        if log is not None:
            log.error("%s does not hold a time; the work counts as handed in without one", path)
        return None


def forgive(converter: Any) -> None:
    """Have one of nbgrader's converters mark work whose `timestamp.txt` holds no time.

    nbgrader itself ends in an AttributeError there. The work then counts as handed in without one.
    """
    if coursedir := getattr(converter, "coursedir", None):
        coursedir.get_existing_timestamp = lambda folder: _time_of(Path(folder), converter.log)
