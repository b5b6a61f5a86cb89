"""The store of results: a file a submission and one table, each written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from pydantic import ValidationError

from autograder import private
from autograder.errors import UsageError, repairable
from autograder.grading.tables import table
from autograder.results import SubmissionResult
from autograder.text import clean

_T = TypeVar("_T")
_GIVE = "give what `autograder grade` wrote: its --out folder, or a file of its results/"
# What is written whole or not at all, until it is whole: by which process.
_TEMPORARY = re.compile(r"\.(\d+)\.[0-9a-f]{32}\.tmp")
# Of a row of the table, in characters.
_REMARKS = 500


def make_writable(out: Path) -> None:
    """Make the folder of the results, and see that a file can be made in it.

    Raises:
        UsageError: none can.
    """
    folder = out / "results"
    try:
        private.make_folder(folder)
        private.write_file(folder / ".probe", b"")
        (folder / ".probe").unlink()
    except OSError as error:
        repair = private.repair(out, "give a folder you can write to")
        raise UsageError(f"{out} cannot hold results ({error.strerror}): {repair}") from error


def holds_results(folder: Path) -> bool:
    """Return whether results were written into a folder."""
    return (folder / "results").is_dir() and (folder / "results.csv").is_file()


def path_of(out: Path, submission: str) -> Path:
    """Return where a submission's result file is."""
    return out / "results" / f"{submission}.json"


def write(out: Path, result: SubmissionResult) -> None:
    """Write a result file, whole or not at all: a line a component, and a line a criterion.

    Raises:
        UsageError: it cannot be written.
    """
    data = result.model_dump_json(by_alias=True).encode()
    # Quotation marks within a text are escaped, so that no text has these characters.
    for start in (b'{"id":', b'"components":{"', b'"criteria":['):
        data = data.replace(start, b"\n" + start)
    path = path_of(out, result.submission)
    with writing(path):
        private.write_file(path, data + b"\n")


def read(out: Path, submission: str) -> SubmissionResult | None:
    """Read a result file; None where there is none, a damaged one, or that of another."""
    with contextlib.suppress(OSError, ValidationError):
        found = SubmissionResult.model_validate_json(path_of(out, submission).read_bytes())
        return found if found.submission == submission else None
    return None


def is_damaged(out: Path, submission: str) -> bool:
    """Return whether something lies in a result's place that `read` makes nothing of.

    A folder is moved aside, so that the result can be written.

    Raises:
        UsageError: the folder cannot be moved.
    """
    path = path_of(out, submission)
    if path.is_dir() and not path.is_symlink():
        with writing(path):
            path.rename(path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.damaged"))
        return True
    return path.is_file()


class Lazy(Sequence[_T], Generic[_T]):
    """Values, each read by its key when it is asked for: a class may be larger than memory."""

    def __init__(self, read: Callable[[Any], _T], keys: Iterable[Any] = ()) -> None:
        self.keys = list(keys)
        self._read = read

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> Lazy[_T]: ...

    def __getitem__(self, index: int | slice) -> _T | Lazy[_T]:
        if isinstance(index, slice):
            return Lazy(self._read, self.keys[index])
        return self._read(self.keys[index])


class Held(Lazy[_T]):
    """Values of this process, in memory and compressed."""

    def __init__(self) -> None:
        # No bytes but those of `append` are ever read.
        super().__init__(lambda data: pickle.loads(zlib.decompress(data)))  # noqa: S301

    def append(self, value: _T) -> None:
        """Hold one more."""
        self.keys.append(zlib.compress(pickle.dumps(value), level=1))


def stored(files: Mapping[str, Path]) -> Lazy[SubmissionResult]:
    """Return results that lie in files, by submission; reading one that is gone is a UsageError."""
    return Lazy(_read_again, files.items())


def _read_again(place: tuple[str, Path]) -> SubmissionResult:
    return read_file(place[1], f"it is gone or damaged: grade {place[0]} again")


def read_file(path: Path, give: str = _GIVE) -> SubmissionResult:
    """Read a result file; what is none is refused with what to `give` instead."""
    try:
        with repairable(f"{path} cannot be read", give):
            return SubmissionResult.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise UsageError(f"{path} is no result file: {give}") from error


def results_at(path: Path) -> tuple[Sequence[SubmissionResult], bool]:
    """Read the results that a user names: a file, a folder that `grade` wrote, or its `results/`.

    Returns:
        The results, by id, and whether a folder of them was named.

    Raises:
        UsageError: there are none, one is damaged, or they are of several assignments.
    """
    if not path.is_dir():
        return [read_file(path)], False
    folder = path / "results"
    files = sorted((folder if folder.is_dir() else path).glob("[!.]*.json"))
    if not files:
        raise UsageError(f"{path} holds no results: {_GIVE}")
    known = [(found.submission, found.assignment) for found in map(read_file, files)]
    names = sorted({assignment for _, assignment in known})
    if len(names) > 1:
        listed = ", ".join(clean(name, 80) for name in names)
        raise UsageError(f"{path} holds results of several assignments ({listed}): name one file")
    return Lazy(_read_again, zip([name for name, _ in known], files, strict=True)), True


def write_table(out: Path, results: Sequence[SubmissionResult], components: Sequence[str]) -> Path:
    """Write results.csv, one row a submission, and return its path; see `tables` for its cells."""
    rows: list[list[str | float | None]] = []
    for result in results:
        # A rejected submission has no components and scores 0 in each, unless it has no score.
        missing = None if result.score is None else 0.0
        found = result.components
        scores = [found[name].score if name in found else missing for name in components]
        about = [result.submission, result.status]
        remarks = clean(result.remarks, _REMARKS)
        rows.append([*about, result.score, result.max_score, *scores, remarks or None])
    path = out / "results.csv"
    header = ["submission", "status", "score", "max_score", *components, "remarks"]
    with writing(path):
        private.write_file(path, table([header, *rows]))
    return path


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what to do where a file cannot be written, as a UsageError."""
    try:
        yield
    except OSError as error:
        repair = "make room for it and run the command again; what is done is kept"
        raise private.unwritable(path, error, repair) from error


def sweep(out: Path) -> None:
    """Remove what a run that was killed left half written."""
    for path in [*out.glob(".*.tmp"), *out.glob("results/.*.tmp")]:
        ours = _TEMPORARY.fullmatch(path.name)
        if ours and not _runs(int(ours[1])):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _runs(pid: int) -> bool:
    """Return whether another run may still be writing: one at a time is not enforced."""
    if pid == os.getpid():
        # A new process with the old one's number, as in a container: it has written nothing yet.
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
