"""Wrong variants: what students might hand in, each with the mistake that should be named in it.

`reference/<name>/wrong_variants/<component>/<base>.py` is a right component in a style of its own,
and `reference/<name>/wrong_variants/<component>.diff` says what mistakes change in the bases,
written without a look at the catalogue of misconceptions:

    @@ NAME in BASE: MISCONCEPTION
    the variance is divided by n - 1 instead of n
         mean = x.mean(-1, keepdim=True)
    -    std = x.std(-1, keepdim=True, correction=0)
    +    std = x.std(-1, keepdim=True)

Behind the colon stands what a diagnosis should name; the next line says the mistake in words. Lines
begin with `-` where they go, `+` where they come, a space where they stay and show the place. A
blank line parts one edit from the next. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.judge.misconceptions import read
from autograder.text import clean

_HEAD = re.compile(r"@@ (?P<name>\w+) in (?P<base>\w+): (?P<what>.*\S) *")
_FORM = "`@@ NAME in BASE: WHAT`"
_NOTHING = "none"
_FORMS = f"`MISCONCEPTION`, `A + B`, `A or B`, or `{_NOTHING}`"
# Whole lines, and those that take their place.
_Edit = tuple[list[str], list[str]]


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


def read_bases(assignment: Assignment, component: str) -> dict[str, str]:
    """Read the right components that a component's wrong variants are made of, by name.

    Raises:
        UsageError: one is not written in UTF-8, or something there belongs to no component.
    """
    folder = _folder(assignment) / component
    return {path.stem: _text(path) for path in sorted(folder.glob("*.py"))}


def read_variants(assignment: Assignment, component: str) -> list[WrongVariant]:
    """Read a component's wrong variants in the order of their names; none where there is no file.

    Raises:
        UsageError: a row is malformed, names what is unknown, or does not apply to its base; or
            something there belongs to no component.
    """
    path = _folder(assignment) / f"{component}.diff"
    if not path.is_file():
        return []
    bases, known = read_bases(assignment, component), read(assignment, component)
    variants = []
    for row in sorted(read_edits(path), key=lambda row: row.name):
        source = row.applied(bases).encode()
        either = " or " in row.what
        names = () if row.what == _NOTHING else tuple(row.what.split(" or " if either else " + "))
        for name in names:
            if name not in known:
                raise row.refused(f"{component} has no misconception {clean(name, 60)!r}; {_FORMS}")
        if len(set(names)) < len(names) or (len(names) > 2 and not either):
            raise row.refused(f"{clean(row.what, 80)!r} has none of the forms {_FORMS}")
        variants.append(WrongVariant(row.name, source, names, either))
    return variants


def write_class(assignment: Assignment, root: Path, folder: Path, out: Path) -> None:
    """Write the submissions of a made-up class to `out`.

    They are what `folder` holds. In the table beside it, `FOLDER.toml`, a submission may say where
    the rest of its files is from: `of` is a folder of the project, and `wrong` says by component
    which wrong variant is in its place.

    Raises:
        UsageError: such a folder, or such a variant, does not exist.
    """
    shutil.copytree(folder, out)
    table = tomllib.loads(folder.with_suffix(".toml").read_text(encoding="utf-8"))
    for name, about in table.items():
        files: dict[str, bytes] = {}
        if "of" in about:
            files = {path.name: path.read_bytes() for path in (root / about["of"]).glob("*.py")}
            if not files:
                raise UsageError(f"{name}: there are no files in {root / about['of']}")
        for component, wrong in about.get("wrong", {}).items():
            variants = {one.name: one.source for one in read_variants(assignment, component)}
            if wrong not in variants:
                raise UsageError(f"{name}: {component} has no wrong variant {wrong!r}")
            files[f"{component}.py"] = variants[wrong]
        for path in (out / name / file for file in files):
            path.parent.mkdir(exist_ok=True)
            if not path.exists():
                path.write_bytes(files[path.name])


def _folder(assignment: Assignment) -> Path:
    top = assignment.secret / "wrong_variants"
    for path in sorted(top.iterdir()) if top.is_dir() else []:
        if path.name.removesuffix(".diff") not in (*assignment.totals, "__pycache__"):
            known = ", ".join(assignment.totals)
            raise UsageError(f"{path} belongs to no component; the components are: {known}")
    return top


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8: {error}") from error


@dataclass(frozen=True)
class Edits:
    """A row of a file of edits: its name, its base, what its head names, and its edits."""

    path: Path
    name: str
    base: str
    what: str
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


def read_edits(path: Path) -> list[Edits]:
    """Read a file of edits in its own order.

    Raises:
        UsageError: it is malformed, or two rows have one name.
    """
    text = re.sub(r"^#.*\n?", "", _text(path), flags=re.M)
    before, *blocks = re.split(r"^(?=@@)", text, flags=re.M)
    if before.strip():
        raise UsageError(f"{path} begins with {clean(before, 60)!r}, not with a head {_FORM}")
    rows: dict[str, Edits] = {}
    for block in blocks:
        first, *lines = block.rstrip("\n").split("\n")
        head = _HEAD.fullmatch(first)
        if head is None:
            raise UsageError(f"{path}: the head {clean(first, 80)!r} has not the form {_FORM}")
        row = Edits(path, head["name"], head["base"], head["what"], [])
        if not lines or not lines[0].strip() or lines[0][0] in "+- ":
            raise row.refused("the line below the head must say in words what is wrong")
        row.edits.extend(_edits(row, lines[1:]))
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
