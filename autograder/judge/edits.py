"""Edits of a file: rows that have a name, words, and the whole lines that go, come or stay.

    @@ HEAD
    what it is about, in words
         mean = x.mean(-1, keepdim=True)
    -    std = x.std(-1, keepdim=True, correction=0)
    +    std = x.std(-1, keepdim=True)

The head names the row; what else it says is the reader's. Below it stand one or several lines of
words. Lines begin with `-` where they go, `+` where they come, a space where they stay and show the
place. A blank line parts one edit from the next. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.text import clean

# Whole lines, and those that take their place.
_Edit = tuple[list[str], list[str]]


def text_of(path: Path) -> str:
    """Read a file of text.

    Raises:
        UsageError: it is not written in UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8: {error}") from error


@dataclass(frozen=True)
class Edits:
    """A row of a file of edits.

    Attributes:
        path: the file.
        name: that of the row.
        base: the name of what is edited.
        what: what else its head says, if it does.
        words: what it is about.
        edits: its edits.
    """

    path: Path
    name: str
    base: str
    what: str
    words: str
    edits: list[_Edit]

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
        for old, new in self.edits:
            found = [at for at in range(len(lines)) if lines[at : at + len(old)] == old]
            if len(found) != 1:
                shown = clean(next(filter(str.strip, old), ""), 60)
                often = f"{len(found)} times" if found else "nowhere"
                raise self.refused(f"the old text at {shown!r} stands {often} in {self.base}.py")
            places.append((found[0], found[0] + len(old), new))
        last = len(lines)
        for start, end, new in sorted(places, reverse=True):
            if end > last:
                raise self.refused("two edits are about the same lines")
            lines[start:end] = new
            last = start
        return "\n".join(lines)

    def refused(self, why: str) -> UsageError:
        """Return the error that names the file, the row and the reason."""
        return UsageError(f"{self.path}: {self.name}: {why}")


def read_edits(path: Path, head: re.Pattern[str], form: str) -> list[Edits]:
    """Read a file of edits in its own order.

    Args:
        path: the file.
        head: a head, with the groups `name`, `what` and perhaps `base`, else that is the file.
        form: what a head is like, in words.

    Raises:
        UsageError: it is malformed, or two rows have one name.
    """
    text = re.sub(r"^#.*\n?", "", text_of(path), flags=re.M)
    before, *blocks = re.split(r"^(?=@@)", text, flags=re.M)
    if before.strip():
        raise UsageError(f"{path} begins with {clean(before, 60)!r}, not with a head {form}")
    rows: dict[str, Edits] = {}
    for block in blocks:
        first, *lines = block.rstrip("\n").split("\n")
        found = head.fullmatch(first)
        if found is None:
            raise UsageError(f"{path}: the head {clean(first, 80)!r} has not the form {form}")
        said = list(itertools.takewhile(lambda line: line.strip() and line[0] not in "+- ", lines))
        base, what = found.groupdict().get("base") or path.stem, found["what"] or ""
        row = Edits(path, found["name"], base, what, " ".join(said), [])
        if not said:
            raise row.refused("the line below the head must say in words what is wrong")
        row.edits.extend(_edits(row, lines[len(said) :]))
        if not row.edits:
            raise row.refused("there is no edit")
        if row.name in rows:
            raise row.refused("the name is there twice")
        rows[row.name] = row
    return list(rows.values())


def _edits(row: Edits, lines: list[str]) -> Iterator[_Edit]:
    old: list[str] = []
    new: list[str] = []
    for line in [*lines, ""]:
        if line:
            if line[0] not in "+- ":
                why = f"the line {clean(line, 60)!r} begins with no `-`, `+` or space"
                raise row.refused(why)
            old += [line[1:]] if line[0] != "+" else []
            new += [line[1:]] if line[0] != "-" else []
        elif old or new:
            if not old:
                why = "an edit has new lines alone; a line beside them must say where"
                raise row.refused(why)
            if old == new:
                raise row.refused("an edit changes nothing")
            yield old, new
            old, new = [], []
