"""Misconceptions: mistakes that are known, each with a name and words for the student.

`reference/<name>/misconceptions/<component>.diff` has a patch of each: see `patches.py`. A name
like `mask_ignored.post` is that of a mistake in one branch of the code alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.judge.patches import combined, read_patches

_SOURCE = "handout"


@dataclass(frozen=True)
class Misconception:
    """One mistake: what it is called, what to tell the student, where the course treats it.

    Attributes:
        component: whose mistake it is.
        name: what it is called.
        explanation: what to tell the student.
        source: where the course treats it.
        severity: how grave it is, or empty.
        met: whether it comes from a student's work.
        right: the component that it is made of.
        wrong: the component with the mistake.
    """

    component: str
    name: str
    explanation: str
    source: str
    severity: str = ""
    met: bool = False
    right: str = field(default="", repr=False, compare=False)
    wrong: str = field(default="", repr=False, compare=False)

    @property
    def id(self) -> str:
        """The name that results give, `<component>.<name>`, whichever branch it is in."""
        return f"{self.component}.{self.name.partition('.')[0]}"

    @property
    def in_branch(self) -> bool:
        """Whether it is in one branch of the code alone."""
        return "." in self.name

    @property
    def words(self) -> str:
        """The explanation with its source."""
        return f"{self.explanation} ({self.source})"


def file_of(assignment: Assignment, component: str) -> Path:
    """Return where a component's misconceptions are written down, if they are."""
    return assignment.secret / "misconceptions" / f"{component}.diff"


def read(assignment: Assignment, component: str) -> dict[str, Misconception]:
    """Read a component's misconceptions by name; none where there is no file.

    Raises:
        UsageError: one is malformed or does not apply, or there is a file of an earlier form.
    """
    path = file_of(assignment, component)
    if path.with_suffix(".py").is_file():
        raise UsageError(
            f"{path.with_suffix('.py')}: misconceptions are patches now; write each mistake into "
            f"{path} as the lines that it changes (docs/authoring.md, Misconceptions), and delete "
            "this file"
        )
    if not path.is_file():
        return {}
    found = {}
    for patch in read_patches(path):
        right = patch.right()
        found[patch.name] = Misconception(
            component=component,
            name=patch.name,
            explanation=patch.words,
            source=patch.source or _SOURCE,
            severity=patch.severity,
            met=patch.met,
            right=right,
            wrong=patch.wrong(right),
        )
    return found


def together(mistakes: Collection[Misconception]) -> str | None:
    """Return the component with all of these mistakes; None where they cannot be in one."""
    first, *others = mistakes
    if any(other.right != first.right for other in others):
        return None
    return combined(first.right, [one.wrong for one in mistakes]) if others else first.wrong
