"""nbgrader's exchange, where it copies what students own, or ends for all because of one.

`submit`, `fetch_assignment` and `fetch_feedback` stay nbgrader's: as the student, they copy the
student's own files, or instructors', whose code the student runs anyway.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseFeedback
from nbgrader.utils import parse_utc

from autograder.judge.folders import BY_DESCRIPTOR, TooMany, open_folder
from autograder.judge.intake import MAX_ENTRIES
from autograder.nbgrader.collected import SECRET, TIMESTAMP, note, was_followed
from autograder.nbgrader.copying import copy
from autograder.nbgrader.times import handed_in_since, says, write_time
from autograder.text import clean

# Of what is left out of one submission, these are named.
_NAMED = 20


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
        """Return what speaks against a folder's being a student's; "" if nothing does."""
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
            # nbgrader's pattern passes over them.
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
            left_out = copy(place, part, record["owner"], course)
            self._put(part, dest, student, record["timestamp"])
        for name, why in [*left_out.items()][:_NAMED]:
            self.log.error("LEFT OUT of %s's submission: %s %s", student, _shown(name), why)
        if len(left_out) > _NAMED:
            self.log.error("LEFT OUT of %s's submission: %d in all", student, len(left_out))
        self.log.info("Collected: %s %s", student, course.assignment_id)
        return ""

    def _put(self, part: Path, dest: Path, student: str, time: datetime) -> None:
        """Put what was copied in its place."""
        if not says(part, time):
            self.log.error("%s's timestamp.txt is not the time of submission: corrected", student)
            write_time(part, time)
        if not any(part.glob("*.ipynb")):
            self.log.error("%s's submission has no notebook: nbgrader autograde skips it", student)
        if dest.exists():
            shutil.rmtree(dest)
        part.rename(dest)
        note(dest)

    def _is_due(self, dest: Path, time: datetime) -> bool:
        if not dest.is_dir():
            return True
        newer = was_followed(dest) or not handed_in_since(dest, time)
        return bool((self.update and newer) or (self.before_duedate and not says(dest, time)))


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
