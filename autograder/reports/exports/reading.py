"""The results that a user names: a file, a folder that `grade` wrote, or its `results/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from autograder.errors import UsageError
from autograder.grading.store import Stored
from autograder.results import SubmissionResult
from autograder.text import clean

_GIVE = "give what `autograder grade` wrote: its --out folder, or a file of its results/"


def read_results(path: Path) -> tuple[Sequence[SubmissionResult], bool]:
    """Read results, by id.

    Returns:
        The results, and whether a folder of them was named.

    Raises:
        UsageError: there are none, one is damaged, or they are of several assignments.
    """
    if not path.is_dir():
        return [read_result(path)], False
    folder = path / "results"
    found = (folder if folder.is_dir() else path).glob("*.json")
    files = sorted(file for file in found if not file.name.startswith("."))
    if not files:
        raise UsageError(f"{path} holds no results: {_GIVE}")
    ids, names = [], set()
    for file in files:
        result = read_result(file)
        ids.append(result.submission)
        names.add(result.assignment)
    if len(names) > 1:
        listed = ", ".join(clean(name, 80) for name in sorted(names))
        raise UsageError(f"{path} holds results of several assignments ({listed}): name one file")
    return Stored(files, ids), True


def read_result(path: Path, give: str = _GIVE) -> SubmissionResult:
    """Read one result file; what is none is refused with what to `give` instead."""
    try:
        return SubmissionResult.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): {give}") from error
    except ValidationError as error:
        raise UsageError(f"{path} is no result file: {give}") from error
