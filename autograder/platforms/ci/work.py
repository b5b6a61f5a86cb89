"""The folder that a pipeline works in: what was fetched, what it was graded, what was told.

`submissions/` is a batch of folders, with an archive where intake rejects that;
`commits/<student>.json` says which commit each of them is; `graded/` is the `--out` of
`autograder grade`; `posted/<student>.json` what was told to whom. A result in `graded/` is always
of the files in `submissions/`: code that replaces those removes it first.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, ValidationError

from autograder import private
from autograder.errors import repairable
from autograder.grading import store
from autograder.text import counted

_COMMIT = r"^([0-9a-f]{40}|[0-9a-f]{64})$"


class Commit(BaseModel):
    """What one student's submission is.

    Attributes:
        content: a hash of the files that were taken.
        day: the last day, in UTC, on which files were taken that differ from those before.
        attempts: how often that was on this day.
        waiting: a newer commit that is not taken before the next day.
    """

    version: Literal[1] = 1
    student: str
    repository: str
    commit: str = Field(pattern=_COMMIT)
    content: str
    fetched: str
    day: str
    attempts: int = Field(ge=0)
    waiting: str | None = Field(default=None, pattern=_COMMIT)

    @classmethod
    def nothing(cls, student: str, repository: str) -> Self:
        """Return what is known of a student before a commit was taken; it is never recorded."""
        about: dict[str, Any] = {"student": student, "repository": repository, "attempts": 0}
        return cls.model_construct(**about, commit="", content="", fetched="", day="")


class Posted(BaseModel):
    """What was told of one student's work: by commit and kind, a hash of it."""

    told: dict[str, str] = {}


_Model = TypeVar("_Model", bound=BaseModel)


class Work:
    """The folder.

    Raises:
        UsageError: it cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.submissions = folder / "submissions"
        self.graded = folder / "graded"
        with repairable(f"--work {folder} cannot be made", "give a folder you can write to"):
            for part in (self.submissions, folder / "commits", folder / "posted"):
                private.make_folder(part)

    def commit(self, student: str) -> Commit | None:
        """Return what a student's submission is; None if it is not there whole."""
        found = _read(Commit, self.folder / "commits" / f"{student}.json")
        if found is None or found.student != student:
            return None
        return found if any(path.exists() for path in self._places(student)) else None

    def record(self, commit: Commit) -> None:
        """Say what a student's submission is."""
        _write(self.folder / "commits" / f"{commit.student}.json", commit)

    def replace(self, taken: Path, commit: Commit) -> None:
        """Put a folder or an archive in the place of a student's files, and of their result."""
        (self.folder / "commits" / f"{commit.student}.json").unlink(missing_ok=True)
        store.path_of(self.graded, commit.student).unlink(missing_ok=True)
        folder, archive = self._places(commit.student)
        if folder.is_dir():
            shutil.rmtree(folder)
        archive.unlink(missing_ok=True)
        taken.rename(folder if taken.is_dir() else archive)
        self.record(commit)

    def _places(self, student: str) -> tuple[Path, Path]:
        return self.submissions / student, self.submissions / f"{student}.tar.gz"

    def posted(self, student: str) -> dict[str, str]:
        """Return what was told of a student's work."""
        found = _read(Posted, self.folder / "posted" / f"{student}.json")
        return {} if found is None else found.told

    def tell(self, student: str, told: dict[str, str]) -> None:
        """Keep what was told of a student's work."""
        _write(self.folder / "posted" / f"{student}.json", Posted(told=told))

    def students(self) -> list[str]:
        """Return the students whose work was fetched, sorted."""
        return sorted(path.stem for path in (self.folder / "commits").glob("*.json"))


def waiting(attempts: int) -> str:
    """Say why a newer commit is not graded yet."""
    most = counted(attempts, "commit")
    return f"at most {most} a day; the newest is graded when a new day begins"


def _read(model: type[_Model], path: Path) -> _Model | None:
    with contextlib.suppress(OSError, ValidationError):
        return model.model_validate_json(path.read_bytes())
    return None


def _write(path: Path, value: BaseModel) -> None:
    private.write_file(path, value.model_dump_json(indent=2).encode() + b"\n")
