"""Wrong variants: what students might hand in, each with the mistake that should be named in it.

`reference/<name>/wrong_variants/<component>/<base>.py` is a right component in a style of its own,
and `reference/<name>/wrong_variants/<component>.diff` says what mistakes change in the bases,
written without a look at the catalogue of misconceptions. The head of a mistake says what a
diagnosis should name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.authoring.edits import Edits, read_edits
from autograder.errors import UsageError
from autograder.solutions.misconceptions import read
from autograder.text import clean

Outcome = Literal["named", "unnamed", "falsely"]

# What a diagnosis must reach, as a share of the variants in which it should name something.
NAMED = 0.92
# "One of these" helps while they are few.
_FEW = 3
_NOTHING = "none"
_FORMS = f"`MISCONCEPTION`, `A + B`, `A or B`, or `{_NOTHING}`"


@dataclass(frozen=True)
class WrongVariant:
    """A wrong component.

    Attributes:
        name: that of its edits.
        source: the component.
        expected: the misconceptions that should be named; empty if none should be.
        either: whether any of them is as good, since no question can tell them apart.
    """

    name: str
    source: bytes
    expected: tuple[str, ...]
    either: bool


class Naming(BaseModel):
    """How the wrong variants of a component were named, in variants.

    Attributes:
        expected: those in which something should be named.
        named: those of them in which it was.
        unnamed: those of them in which nothing was named, or half of a pair.
        nothing: those in which nothing should be named.
        falsely: those of both kinds in which something else was named.
    """

    expected: int = 0
    named: int = 0
    unnamed: int = 0
    nothing: int = 0
    falsely: int = 0

    def count(self, expected: Collection[str], outcome: Outcome) -> None:
        """Count a variant."""
        self.expected += bool(expected)
        self.nothing += not expected
        self.named += bool(expected) and outcome == "named"
        self.unnamed += outcome == "unnamed"
        self.falsely += outcome == "falsely"


def read_bases(assignment: Assignment, component: str) -> dict[str, str]:
    """Read the right components that a component's wrong variants are made of, by name.

    Raises:
        UsageError: one is not written in UTF-8, or something there belongs to no component.
    """
    top = _folder(assignment)
    try:
        return {
            path.stem: path.read_text(encoding="utf-8")
            for path in sorted((top / component).glob("*.py"))
        }
    except UnicodeDecodeError as error:
        raise UsageError(f"a base in {top / component} is not written in UTF-8: {error}") from error


def read_variants(assignment: Assignment, component: str) -> list[WrongVariant]:
    """Read a component's wrong variants in the order of their names; none where there is no file.

    Raises:
        UsageError: a row is malformed, names what is unknown, or does not apply to its base; or
            something there belongs to no component.
    """
    path = _folder(assignment) / f"{component}.diff"
    if not path.is_file():
        return []
    bases, mistakes = read_bases(assignment, component), read(assignment, component)
    return [
        _variant(row, component, bases, mistakes)
        for row in sorted(read_edits(path), key=lambda row: row.name)
    ]


def outcome_of(
    expected: Collection[str], named: Collection[str], *, alternatives: bool, either: bool
) -> Outcome:
    """Judge what a diagnosis named.

    Args:
        expected: what it should name.
        named: what it named.
        alternatives: whether any of the expected is as good.
        either: whether it said that it is one of these.
    """
    wanted, said = set(expected), set(named)
    if not said:
        return "unnamed" if wanted else "named"
    if either and said & wanted and len(said) <= _FEW:
        # Of a pair, both are there.
        return "named" if alternatives or len(wanted) == 1 else "unnamed"
    if not said <= wanted or either or (alternatives and len(said) > 1):
        return "falsely"
    return "named" if alternatives or said == wanted else "unnamed"


def faults_of(naming: Sequence[Naming]) -> list[str]:
    """Say whether too few variants of all components were named."""
    expected, named = (sum(getattr(one, of) for one in naming) for of in ("expected", "named"))
    if named >= NAMED * expected:
        return []
    return [f"only {named} of {expected} wrong variants are named rightly, not {NAMED:.0%}"]


def _folder(assignment: Assignment) -> Path:
    top = assignment.secret / "wrong_variants"
    for path in sorted(top.iterdir()) if top.is_dir() else []:
        if path.name.removesuffix(".diff") not in (*assignment.totals, "__pycache__"):
            known = ", ".join(assignment.totals)
            raise UsageError(f"{path} belongs to no component; the components are: {known}")
    return top


def _variant(
    row: Edits, component: str, bases: Mapping[str, str], known: Collection[str]
) -> WrongVariant:
    source = row.applied(bases).encode()
    if row.what == _NOTHING:
        return WrongVariant(row.name, source, (), False)
    either = " or " in row.what
    names = row.what.split(" or " if either else " + ")
    for name in names:
        if name not in known:
            raise row.refused(f"{component} has no misconception {clean(name, 60)!r}; {_FORMS}")
    if len(set(names)) < len(names) or (len(names) > 2 and not either):
        raise row.refused(f"{clean(row.what, 80)!r} has none of the forms {_FORMS}")
    return WrongVariant(row.name, source, tuple(names), either)
