"""What the author of a new assignment has not filled in yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import UsageError

# Stands in the files of a new assignment wherever something is to be said.
MARK = "REPLACE(author)"
_KINDS = (".json", ".md", ".py", ".toml")


def places(assignment: Assignment) -> Iterator[tuple[Path, int]]:
    """Yield every file and line that is still to be filled in; stubs follow their solutions."""
    stubs = {assignment.public / f"{component}.py" for component in assignment.totals}
    for folder in (assignment.secret, assignment.public):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in _KINDS or path in stubs or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), start=1):
                if MARK in line:
                    yield path, number


def must_be_filled_in(assignment: Assignment) -> None:
    """See that nothing is left to be filled in.

    Raises:
        UsageError: something is; the message names the first place.
    """
    found = list(places(assignment))
    if found:
        path, line = found[0]
        more = f", and {len(found) - 1} more places" if len(found) > 1 else ""
        raise UsageError(
            f"{assignment.name} is not filled in: {path.relative_to(assignment.root)}, line "
            f"{line}{more}, where {MARK} says what is wanted; take out the mark when it is there"
        )
