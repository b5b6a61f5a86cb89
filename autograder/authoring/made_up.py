"""Made-up classes: what their submissions share with an assignment's variants is written once."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from autograder.assignment import Assignment
from autograder.authoring.wrong_variants import read_variants
from autograder.errors import UsageError


def write_class(assignment: Assignment, root: Path, folder: Path, out: Path) -> None:
    """Write the submissions of a class to `out`.

    They are what `folder` holds. In the table beside it, `FOLDER.toml`, a submission may say where
    the rest of its files is from: `of` is a folder of the project, and `wrong` says by component
    which wrong variant is in its place.

    Raises:
        UsageError: such a folder, or such a variant, does not exist.
    """
    shutil.copytree(folder, out)
    table = tomllib.loads(folder.with_suffix(".toml").read_text(encoding="utf-8"))
    for name, about in table.items():
        place = out / name
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
        for file, source in files.items():
            place.mkdir(exist_ok=True)
            if not (place / file).exists():
                (place / file).write_bytes(source)
