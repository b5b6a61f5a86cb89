"""Fetch the students' repositories into a batch; one that fails costs nobody else."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder import private
from autograder.judge.intake import Rejected, digest
from autograder.judge.limited import take_in_limited
from autograder.platforms.ci.api import ApiFault
from autograder.platforms.ci.platforms import Platform
from autograder.platforms.ci.roster import Student
from autograder.platforms.ci.work import Commit, Work, waiting

_SIDE_BY_SIDE = 4
Outcome = Literal["taken", "unchanged", "waiting", "empty", "failed"]


@dataclass(frozen=True)
class Fetched:
    """What became of one repository; `reason` says more."""

    student: Student
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True)
class Fetcher:
    """Fetches into one folder.

    Attributes:
        work: the folder.
        platform: where the repositories are.
        branch: which branch is graded; None for the default one of each repository.
        attempts: how many commits of a student are taken a day; 0 for all.
        seconds: how long the download of an archive may take.
        now: says what time it is, in UTC.
    """

    work: Work
    platform: Platform
    branch: str | None
    attempts: int
    seconds: float
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    @property
    def _incoming(self) -> Path:
        return self.work.folder / "incoming"

    def fetch(self, students: Iterable[Student]) -> Iterator[Fetched]:
        """Fetch from every student's repository and yield what became of it, in their order."""
        # What a run that was killed left half written.
        shutil.rmtree(self._incoming, ignore_errors=True)
        closed = private.umask_of(self.work.folder)
        with closed, ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            yield from pool.map(self._one, students)
        shutil.rmtree(self._incoming, ignore_errors=True)

    def _one(self, student: Student) -> Fetched:
        try:
            return Fetched(student, *self._fetched(student))
        except ApiFault as fault:
            return Fetched(student, "failed", str(fault))
        except OSError as error:
            return Fetched(student, "failed", f"its files cannot be written: {error.strerror}")

    def _fetched(self, student: Student) -> tuple[Outcome, str]:
        newest = self.platform.newest(student.repository, self.branch)
        if newest is None:
            return "empty", "there is no commit in it yet"
        before = self.work.commit(student.id)
        if before is None or before.repository != student.repository:
            before = Commit.nothing(student.id, student.repository)
        unchanged = before.model_copy(update={"commit": newest, "waiting": None})
        if before.commit == newest:
            self.work.record(unchanged)
            return "unchanged", ""
        today = self.now().date().isoformat()
        count = before.attempts if before.day == today else 0
        used_up = 0 < self.attempts <= count
        if used_up and before.waiting == newest:
            return "waiting", waiting(self.attempts)
        taken, content, reason = self._taken(student, newest)
        if before.content == content:
            self.work.record(unchanged)
            return "unchanged", ""
        if used_up:
            self.work.record(before.model_copy(update={"waiting": newest}))
            return "waiting", waiting(self.attempts)
        fetched = self.now().isoformat(timespec="seconds")
        new = {"content": content, "fetched": fetched, "day": today, "attempts": count + 1}
        self.work.replace(taken, unchanged.model_copy(update=new))
        return "taken", reason

    def _taken(self, student: Student, commit: str) -> tuple[Path, str, str]:
        """Download a commit; return what is graded of it, a hash of that, and what is to be said.

        That is a folder with the Python files; the archive as it is where intake rejects that, so
        that grading says so to the student.
        """
        self._incoming.mkdir(exist_ok=True)
        archive = self._incoming / f"{student.id}.tar.gz"
        with archive.open("wb") as file:
            self.platform.archive(student.repository, commit, file, self.seconds)
        try:
            files = take_in_limited(archive).files
        except Rejected as rejected:
            content = hashlib.sha256(f"rejected: {rejected}".encode()).hexdigest()
            return archive, content, f"not accepted: {rejected}"
        archive.unlink()
        folder = self._incoming / student.id
        folder.mkdir()
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder, digest(files), ""
