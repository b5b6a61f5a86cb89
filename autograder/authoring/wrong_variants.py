"""Wrong variants: what students might hand in, each with the mistake that should be named in it.

`reference/<name>/wrong_variants/<component>.diff` has a patch of each, written without a look at
the catalogue of misconceptions: see `judge/patches.py`. Behind the colon stands what a diagnosis
should name.
"""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.authoring.folders import modules_in, write_files
from autograder.errors import UsageError
from autograder.judge.misconceptions import read
from autograder.judge.patches import Patch, read_patches, text_of
from autograder.text import clean

_NOTHING = "none"
_FORMS = f"`MISCONCEPTION`, `A + B`, `A or B`, or `{_NOTHING}`"


@dataclass(frozen=True)
class WrongVariant:
    """A wrong component.

    Attributes:
        name: that of its patch.
        source: the component.
        expected: the misconceptions that should be named; empty if none should be.
        either: whether any of them is as good, since no question can tell them apart.
    """

    name: str
    source: bytes
    expected: tuple[str, ...]
    either: bool


def read_bases(assignment: Assignment, component: str) -> dict[str, str]:
    """Read the right components that patches are made of, beside the solution, by name.

    Raises:
        UsageError: one is not written in UTF-8, or something there belongs to no component.
    """
    folders = [assignment.secret / "misconceptions", _folder(assignment)]
    paths = [path for folder in folders for path in sorted((folder / component).glob("*.py"))]
    return {path.stem: text_of(path) for path in paths}


def read_variants(assignment: Assignment, component: str) -> list[WrongVariant]:
    """Read a component's wrong variants in the order of their names; none where there is no file.

    Raises:
        UsageError: a patch is malformed, names what is unknown, or does not apply; or something
            there belongs to no component.
    """
    path = _folder(assignment) / f"{component}.diff"
    if not path.is_file():
        return []
    known = {one.name for one in read(assignment, component).values() if not one.in_branch}
    variants = []
    for patch in sorted(read_patches(path), key=lambda patch: patch.name):
        either = " or " in patch.source
        expected = _expected(patch)
        for name in expected:
            if name not in known:
                shown = clean(name, 60)
                raise patch.refused(f"{component} has no misconception {shown!r}; {_FORMS}")
        source = patch.wrong(patch.right()).encode()
        variants.append(WrongVariant(patch.name, source, expected, either))
    return variants


def _expected(patch: Patch) -> tuple[str, ...]:
    """Return the misconceptions that should be named."""
    if not patch.source:
        raise patch.refused(f"what should be named must stand behind a colon: {_FORMS}")
    if patch.source == _NOTHING:
        return ()
    either = " or " in patch.source
    names = tuple(patch.source.split(" or " if either else " + "))
    if len(set(names)) < len(names) or (len(names) > 2 and not either):
        raise patch.refused(f"{clean(patch.source, 80)!r} has none of the forms {_FORMS}")
    return names


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
