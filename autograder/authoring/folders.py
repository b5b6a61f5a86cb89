"""Folders that a command fills: whole, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder import private
from autograder.errors import UsageError


def must_be_new(folder: Path, repair: str) -> None:
    """Check that a folder is empty or does not exist yet.

    Raises:
        UsageError: it is a file or holds something; the message ends in `repair`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UsageError(f"{folder} {what}: {repair}")


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their relative paths, with the folders that they need."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextlib.contextmanager
def whole(
    called: Path, target: Path, parts: Sequence[str] = (), secret: bool = True
) -> Iterator[Path]:
    """Yield a folder whose content is moved to `target` at the end; after an error nothing is left.

    Args:
        called: the target as the user names it.
        target: a folder that may be missing; one that is there is filled, as someone may stand in
            it.
        parts: the paths that are moved; by default all that is in the folder.
        secret: whether solutions are among it, so that other accounts may not read it.
    """
    with readable_errors(called):
        above = next(folder for folder in (target, *target.parents) if folder.is_dir())
        beside = target.parent if above == target and not parts else above
        closed = private.umask_of(beside) if secret else contextlib.nullcontext()
        # Beside the target, so that nothing is copied.
        apart = tempfile.TemporaryDirectory(prefix=".gradeformer-", dir=above)
        moved: list[Path] = []
        with closed, apart as name:
            # Folders on the way that are missing are made with it.
            made = Path(name) / target.relative_to(above)
            made.mkdir(parents=True, exist_ok=True)
            yield made
            try:
                for part in parts or sorted(path.name for path in Path(name).iterdir()):
                    (Path(name) / part).rename(above / part)
                    moved.append(above / part)
            except BaseException:
                for path in moved:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                raise


@contextlib.contextmanager
def readable_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError into a UsageError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder} cannot be written: {reason}") from error
