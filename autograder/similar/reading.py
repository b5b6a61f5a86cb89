"""From a batch to what is compared: nothing is unpacked, imported or run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.grading.entries import discover
from autograder.judge.intake import Rejected, take_in
from autograder.similar.work import Work, work_of


@dataclass(frozen=True)
class Read:
    """What was read of a batch.

    Attributes:
        works: what can be compared, by id.
        left_out: why an entry is not, by its id or ids.
        in_part: files that were too much to be compared whole, by id.
    """

    works: list[Work]
    left_out: Mapping[str, str] = field(default_factory=dict)
    in_part: Mapping[str, str] = field(default_factory=dict)


def read(
    batch: Path, assignment: Assignment, done: Callable[[int, int], None] = lambda n, of: None
) -> Read:
    """Read a batch.

    Args:
        batch: a folder with one submission an entry, as `grade` takes it.
        assignment: what was handed in.
        done: told how many entries of how many are read.

    Raises:
        UsageError: it is none, or holds fewer than two submissions that can be read.
    """
    listing = discover(batch, assignment.name, list(assignment.totals))
    left_out = {
        " and ".join(paths[:3]): f"they are both of {name!r}: keep one of them"
        for name, paths in listing.doubled.items()
    }
    works: list[Work] = []
    in_part = {}
    for number, entry in enumerate(listing.entries, start=1):
        try:
            files = take_in(entry.path)
        except Rejected as reason:
            left_out[entry.id] = str(reason)
        except OSError as error:
            left_out[entry.id] = f"it cannot be read ({error.strerror})"
        else:
            work = work_of(entry.id, files, list(assignment.totals))
            works.append(work)
            if work.left_out:
                in_part[entry.id] = ", ".join(work.left_out)
        done(number, len(listing.entries))
    if len(works) < 2:
        raise UsageError(
            f"{batch} holds {len(works)} submissions that can be read, and to compare takes two: "
            "name the folder of the whole class"
        )
    return Read(works, left_out, in_part)
