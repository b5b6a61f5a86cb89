"""Fetch the students' repositories into a batch; one that fails costs nobody else."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from autograder import private
from autograder.ci.git import Git, GitFault, Taken
from autograder.ci.roster import Student
from autograder.ci.work import Commit, Work

_SIDE_BY_SIDE = 4
Outcome = Literal["taken", "unchanged", "waiting", "empty", "failed"]


@dataclass(frozen=True)
class Fetched:
    """What became of one repository; `reason` says more."""

    student: Student
    outcome: Outcome
    reason: str = ""


class Fetcher:
    """Fetches into one folder.

    Args:
        work: the folder.
        git: fetches.
        server: the address that repositories are below.
        ref: what of a repository is graded.
        attempts: how many commits of a student are taken a day; 0 for all.
        now: says what time it is, in UTC.
    """

    def __init__(
        self,
        work: Work,
        git: Git,
        server: str,
        ref: str,
        attempts: int,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._work = work
        self._git = git
        self._server = server.rstrip("/")
        self._ref = ref
        self._attempts = attempts
        self._now = now
        self._incoming = work.folder / "incoming"

    def fetch(self, students: Iterable[Student], tell: Callable[[Fetched], None]) -> list[Fetched]:
        """Fetch from every student's repository and return what became of it, in their order."""
        # What a run that was killed left half written.
        shutil.rmtree(self._incoming, ignore_errors=True)
        found = []
        closed = private.umask_of(self._work.folder)
        with closed, ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            for one in pool.map(self._one, students):
                tell(one)
                found.append(one)
        shutil.rmtree(self._incoming, ignore_errors=True)
        return found

    def _one(self, student: Student) -> Fetched:
        try:
            return self._fetched(student)
        except GitFault as fault:
            return Fetched(student, "failed", str(fault))
        except OSError as error:
            # A tree may hold a file and a folder of one name, or names that this system refuses.
            return Fetched(student, "failed", f"its files cannot be written: {error.strerror}")

    def _fetched(self, student: Student) -> Fetched:
        url = f"{self._server}/{student.repository}.git"
        before = self._work.commit(student.id)
        if before is not None and before.repository != student.repository:
            before = None
        newest = self._git.newest(url, self._ref)
        if newest is None:
            return Fetched(student, "empty", "there is no commit in it yet")
        if before is not None and before.commit == newest:
            self._work.record(before.model_copy(update={"waiting": None}))
            return Fetched(student, "unchanged")
        if before is not None and before.waiting == newest and self._used_up(before):
            return Fetched(student, "waiting", self._limit())
        # Whatever was pushed since the question above is what is taken, and what is recorded.
        taken = self._git.take(url, self._ref)
        if before is not None and before.content == taken.content:
            same = {"commit": taken.commit, "waiting": None, "left_out": taken.left_out}
            self._work.record(before.model_copy(update=same))
            return Fetched(student, "unchanged")
        if before is not None and self._used_up(before):
            self._work.record(before.model_copy(update={"waiting": taken.commit}))
            return Fetched(student, "waiting", self._limit())
        self._replace(student, taken, before)
        return Fetched(student, "taken", "; ".join(taken.left_out))

    def _used_up(self, before: Commit) -> bool:
        today = before.day == self._today()
        return bool(self._attempts) and today and before.attempts >= self._attempts

    def _limit(self) -> str:
        return f"{self._attempts} commits a day are graded; the newest is when a new day begins"

    def _today(self) -> str:
        return self._now().date().isoformat()

    def _replace(self, student: Student, taken: Taken, before: Commit | None) -> None:
        """Put files in the place of those before, so that no result of those is left with them."""
        made = self._incoming / student.id
        made.mkdir(parents=True)
        for name, data in taken.files.items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(data)
        today = self._today()
        count = before.attempts if before is not None and before.day == today else 0
        place = self._work.submissions / student.id
        self._work.forget(student.id)
        _remove(place)
        made.rename(place)
        self._work.record(
            Commit(
                student=student.id,
                repository=student.repository,
                commit=taken.commit,
                content=taken.content,
                fetched=self._now().isoformat(timespec="seconds"),
                day=today,
                attempts=count + 1,
                left_out=taken.left_out,
            )
        )


def _remove(folder: Path) -> None:
    if folder.is_dir():
        shutil.rmtree(folder)
