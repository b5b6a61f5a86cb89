"""Wrong variants: what students might hand in, each with the mistake that should be named in it.

`reference/<name>/wrong_variants/<component>/<any>.py` is a whole component, written without a look
at the catalogue of misconceptions. Its first line says what a diagnosis should name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.solutions.misconceptions import read
from autograder.text import clean

Outcome = Literal["named", "unnamed", "falsely"]

# What a diagnosis must reach, as a share of the variants in which it should name something.
NAMED = 0.92
# "One of these" helps while they are few.
_FEW = 3
_NOTHING = "none"
_HEADER = re.compile(r"#\s*(?P<kind>misconception|one of):(?P<names>.*)")
_FORMS = (
    "`# misconception: NAME`, `# misconception: NAME + NAME`, `# one of: NAME, NAME` or "
    f"`# misconception: {_NOTHING}`"
)


@dataclass(frozen=True)
class WrongVariant:
    """A wrong component.

    Attributes:
        name: that of its file, without `.py`.
        source: the file.
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


def read_variants(assignment: Assignment, component: str) -> list[WrongVariant]:
    """Read a component's wrong variants in the order of their names; none where there is no folder.

    Raises:
        UsageError: a file says in no known form what should be named, or names what is unknown; or
            there is a folder of what is no component.
    """
    top = assignment.secret / "wrong_variants"
    for path in sorted(top.iterdir()) if top.is_dir() else []:
        if path.name not in (*assignment.totals, "__pycache__"):
            known = ", ".join(assignment.totals)
            raise UsageError(f"{path} is no folder of a component; the components are: {known}")
    mistakes = read(assignment, component)
    return [_read(path, component, mistakes) for path in sorted((top / component).glob("*.py"))]


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


def _read(path: Path, component: str, known: Collection[str]) -> WrongVariant:
    source = path.read_bytes()
    first = source.partition(b"\n")[0].decode("utf-8-sig", "replace").strip()
    header = _HEADER.fullmatch(first)
    said = f"{path}: the first line is {clean(first, 80)!r}"
    if header is None:
        raise UsageError(f"{said}; it must say what should be named: {_FORMS}")
    either = header["kind"] == "one of"
    names = [name.strip() for name in header["names"].split("," if either else "+")]
    if names == [_NOTHING] and not either:
        return WrongVariant(path.stem, source, (), False)
    for name in names:
        if name not in known:
            raise UsageError(f"{said}; {component} has no misconception {clean(name, 60)!r}")
    enough = len(names) >= 2 if either else len(names) <= 2
    if not enough or len(set(names)) < len(names):
        raise UsageError(f"{said}; it must have one of the forms {_FORMS}")
    return WrongVariant(path.stem, source, tuple(names), either)
