"""Mistakes as edits: what of a right file is replaced by what, in the manner of a diff.

A row of such a file is a head, a line that says the mistake in words, and edits:

    @@ NAME in BASE: WHAT
    the variance is divided by n - 1 instead of n
         mean = x.mean(-1, keepdim=True)
    -    std = x.std(-1, keepdim=True, correction=0)
    +    std = x.std(-1, keepdim=True)

Lines begin with `-` where they go, `+` where they come, a space where they stay and say which
place is meant. A blank line parts one edit from the next. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.text import clean

_HEAD = re.compile(r"@@ (?P<name>\w+) in (?P<base>\w+): (?P<what>.*\S) *")
_FORM = "`@@ NAME in BASE: WHAT`"


@dataclass(frozen=True)
class Edit:
    """Whole lines, and those that take their place."""

    old: list[str]
    new: list[str]


@dataclass(frozen=True)
class Edits:
    """A row of a file of edits.

    Attributes:
        path: the file.
        name: what the row is called.
        base: what the edited file is called.
        what: what the head says behind the colon.
        words: the mistake in words.
        edits: what is replaced by what.
    """

    path: Path
    name: str
    base: str
    what: str
    words: str
    edits: list[Edit]

    def applied(self, sources: Mapping[str, str]) -> str:
        """Return the edited base, one of the sources by name.

        Raises:
            UsageError: there is no such base, or an edit does not apply to it.
        """
        if self.base not in sources:
            known = ", ".join(sources) or "none"
            raise self.refused(f"there is no base {self.base!r}; the bases are: {known}")
        lines = sources[self.base].split("\n")
        places: list[tuple[int, int, list[str]]] = []
        for edit in self.edits:
            size = len(edit.old)
            found = [at for at in range(len(lines)) if lines[at : at + size] == edit.old]
            if len(found) != 1:
                shown = clean(next(filter(str.strip, edit.old), ""), 60)
                often = f"{len(found)} times" if found else "nowhere"
                raise self.refused(f"the old text at {shown!r} stands {often} in {self.base}.py")
            places.append((found[0], found[0] + size, edit.new))
        last = len(lines)
        for start, end, new in sorted(places, reverse=True):
            if end > last:
                raise self.refused("two edits are about the same lines")
            lines[start:end] = new
            last = start
        return "\n".join(lines)

    def refused(self, why: str) -> UsageError:
        """Return the error that names the file, the row and the reason."""
        return _refused(self.path, self.name, why)


def read_edits(path: Path) -> list[Edits]:
    """Read a file of edits in its own order.

    Raises:
        UsageError: it is malformed, or two rows have one name.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8: {error}") from error
    rows: dict[str, Edits] = {}
    before, *blocks = re.split(r"^(?=@@)", re.sub(r"^#.*\n?", "", text, flags=re.M), flags=re.M)
    if before.strip():
        raise UsageError(f"{path} begins with {clean(before, 60)!r}, not with a head {_FORM}")
    for block in blocks:
        row = _row(path, block.rstrip("\n").split("\n"))
        if row.name in rows:
            raise row.refused("the name is there twice")
        rows[row.name] = row
    return list(rows.values())


def _refused(path: Path, name: str, why: str) -> UsageError:
    return UsageError(f"{path}: {name}: {why}")


def _row(path: Path, lines: list[str]) -> Edits:
    head = _HEAD.fullmatch(lines[0])
    if head is None:
        raise UsageError(f"{path}: the head {clean(lines[0], 80)!r} has not the form {_FORM}")
    name = head["name"]
    words = lines[1].strip() if len(lines) > 1 else ""
    if not words or lines[1][0] in "+- ":
        raise _refused(path, name, "the line below the head must say in words what is wrong")
    edits = list(_edits(path, name, lines[2:]))
    if not edits:
        raise _refused(path, name, "there is no edit")
    return Edits(path, name, head["base"], head["what"], words, edits)


def _edits(path: Path, name: str, lines: list[str]) -> Iterator[Edit]:
    edit = Edit([], [])
    for line in [*lines, ""]:
        if line:
            if line[0] not in "+- ":
                why = f"the line {clean(line, 60)!r} begins with no `-`, `+` or space"
                raise _refused(path, name, why)
            if line[0] != "+":
                edit.old.append(line[1:])
            if line[0] != "-":
                edit.new.append(line[1:])
        elif edit.old or edit.new:
            if not edit.old:
                why = "an edit has new lines alone; a line beside them must say where"
                raise _refused(path, name, why)
            if edit.old == edit.new:
                raise _refused(path, name, "an edit changes nothing")
            yield edit
            edit = Edit([], [])
