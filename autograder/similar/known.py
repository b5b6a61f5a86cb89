"""Code that is no evidence: what the teacher gave, and what anybody can read."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autograder.assignment import Assignment
from autograder.authoring.release import conftest
from autograder.errors import UsageError
from autograder.similar.prints import prints_of
from autograder.similar.words import words_of
from autograder.similar.work import decoded

_FENCED = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)
_GIVEN = (".py", ".ipynb", ".md")
# Not of an assignment, whose data may be texts.
_KINDS = (*_GIVEN, ".txt")


def given_by(assignment: Assignment) -> NDArray[np.uint64]:
    """Return the fingerprints of all that students are given: handout, stubs, tests, stand-ins."""
    texts = list(_texts(_files(assignment.public, _GIVEN)))
    # One that cannot be released yet has none.
    with contextlib.suppress(OSError, UnicodeDecodeError):
        texts.append(conftest(assignment))
    return _prints(texts, assignment)


def solutions_of(assignment: Assignment) -> NDArray[np.uint64]:
    """Return the fingerprints of the solutions: what is nearest at hand looks like them."""
    paths = [assignment.secret / f"{name}.py" for name in assignment.totals]
    return _prints(_texts(path for path in paths if path.is_file()), assignment)


def public(places: Iterable[Path], assignment: Assignment) -> NDArray[np.uint64]:
    """Return the fingerprints of public code: files, or folders of `.py`, `.ipynb`, `.md`, `.txt`.

    Raises:
        UsageError: one is not there, holds nothing of the kind, or cannot be read.
    """
    texts: list[str] = []
    for place in places:
        if not place.exists():
            raise UsageError(f"--public {place} does not exist: give a folder or file of code")
        try:
            found = list(_texts(_files(place, _KINDS) if place.is_dir() else [place]))
        except OSError as error:
            raise UsageError(
                f"--public {place} cannot be read ({error.strerror}): give what you can read"
            ) from error
        if not found:
            raise UsageError(f"--public {place} holds no code: give {', '.join(_KINDS)} files")
        texts += found
    return _prints(texts, assignment)


def _files(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in kinds and path.is_file():
            yield path


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        text = decoded(path.read_bytes())
        if path.suffix == ".ipynb":
            yield _cells(text)
        elif path.suffix == ".md":
            yield "\n".join(_FENCED.findall(text))
        else:
            yield text


def _cells(text: str) -> str:
    """Return the code of a notebook; of a damaged one, its text."""
    try:
        cells = json.loads(text)["cells"]
        return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    except (ValueError, LookupError, TypeError, RecursionError):
        return text


def _prints(texts: Iterable[str], assignment: Assignment) -> NDArray[np.uint64]:
    own = frozenset(assignment.totals)
    found = [prints_of(words_of(text, own)) for text in texts]
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *found]))
