"""When something was handed in, as `timestamp.txt` says, which a student can write to."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from autograder.nbgrader.collected import TIMESTAMP

_LONGEST = 100


def time_of(folder: Path) -> datetime | None:
    """Return when a submission was handed in, in UTC; None if it does not say.

    Raises:
        ValueError: its file holds no time.
    """
    path = folder / TIMESTAMP
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST).decode().strip()
        return parse_utc(text) if text else None
    # dateutil's own among them; a number too large for a date, a zone that is none.
    except (ValueError, OverflowError, TypeError, OSError) as error:
        raise ValueError(f"{path} does not hold a time") from error


def says(folder: Path, time: datetime) -> bool:
    """Return whether a submission says that it was handed in at a time, in UTC."""
    try:
        return time_of(folder) == time
    except ValueError:
        return False


def handed_in_since(folder: Path, time: datetime) -> bool:
    """Return whether a submission says that it was handed in at a time, or later."""
    try:
        found = time_of(folder)
    except ValueError:
        return False
    return found is not None and found >= time


def write_time(folder: Path, time: datetime) -> None:
    """Have a submission say when it was handed in, in UTC."""
    (folder / TIMESTAMP).write_text(f"{time:%Y-%m-%d %H:%M:%S.%f} UTC", encoding="ascii")


def forgive(converter: Any) -> None:
    """Have one of nbgrader's converters mark work whose `timestamp.txt` holds no time.

    nbgrader itself ends in an AttributeError there. The work then counts as handed in without one.
    """
    coursedir = getattr(converter, "coursedir", None)
    if coursedir is None:
        return

    def existing(folder: str) -> datetime | None:
        try:
            return time_of(Path(folder))
        except ValueError as error:
            converter.log.error("%s; the work counts as handed in without one", error)
            return None

    coursedir.get_existing_timestamp = existing
