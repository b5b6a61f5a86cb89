"""Wrong variants: what students might hand in, each with the mistake that should be named in it.

`reference/<name>/wrong_variants/<component>/<base>.py` is a right component in a style of its own,
and `reference/<name>/wrong_variants/<component>.diff` says what mistakes change in the bases,
written without a look at the catalogue of misconceptions:

    @@ NAME in BASE: MISCONCEPTION
    the variance is divided by n - 1 instead of n
         mean = x.mean(-1, keepdim=True)
    -    std = x.std(-1, keepdim=True, correction=0)
    +    std = x.std(-1, keepdim=True)

Behind the colon stands what a diagnosis should name; `judge/edits.py` has the rest of the form.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.authoring.folders import modules_in, write_files
from autograder.errors import UsageError
from autograder.judge.edits import read_edits, text_of
from autograder.judge.misconceptions import read
from autograder.text import clean

HEAD = re.compile(r"@@ (?P<name>\w+) in (?P<base>\w+): (?P<what>.*\S) *")
FORM = "`@@ NAME in BASE: WHAT`"
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


def read_bases(assignment: Assignment, component: str) -> dict[str, str]:
    """Read the right components that a component's wrong variants are made of, by name.

    Raises:
        UsageError: one is not written in UTF-8, or something there belongs to no component.
    """
    folder = _folder(assignment) / component
    return {path.stem: text_of(path) for path in sorted(folder.glob("*.py"))}


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
    for row in sorted(read_edits(path, HEAD, FORM), key=lambda row: row.name):
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
            files = modules_in(root / about["of"])
            if not files:
                raise UsageError(f"{name}: there are no files in {root / about['of']}")
        for component, wrong in about.get("wrong", {}).items():
            variants = {one.name: one.source for one in read_variants(assignment, component)}
            if wrong not in variants:
                raise UsageError(f"{name}: {component} has no wrong variant {wrong!r}")
            files[f"{component}.py"] = variants[wrong]
        own = modules_in(out / name)
        write_files(out / name, {file: files[file] for file in files if file not in own})


def _folder(assignment: Assignment) -> Path:
    top = assignment.secret / "wrong_variants"
    for path in sorted(top.iterdir()) if top.is_dir() else []:
        if path.name.removesuffix(".diff") not in (*assignment.totals, "__pycache__"):
            known = ", ".join(assignment.totals)
            raise UsageError(f"{path} belongs to no component; the components are: {known}")
    return top
