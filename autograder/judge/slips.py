"""Mechanical slips of a submission: what can only be meant one way is taken, and named."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from autograder.archives import is_archive
from autograder.judge.intake import (
    Content,
    look_through,
    look_through_archive,
    others,
    take_in,
)
from autograder.judge.reached import Reached, reached
from autograder.rules.files import main_file
from autograder.text import clean

# As systems call a second copy: `layer_norm (1).py`, `layer_norm-1.py`.
_COPY = re.compile(r"(\s*\(\d+\)|-\d+)$")
_CELL = re.compile(r"(?:#|%%(?:writefile|file))\s+(?:\./)?([A-Za-z_]\w*\.py)\s*$")
_NOTEBOOK = ".ipynb"
_LISTED = 5
# What a release holds beside the components: to hand it in, too, is no slip.
_HANDED_OUT = ("conftest.py", "tests/")
_NAME = 60
# Below this two names have too little in common.
_NEAR = 0.6


class Taken(NamedTuple):
    """A submission.

    Attributes:
        files: its Python files by relative POSIX path.
        remarks: what was taken otherwise than it was handed in, or might have been meant: by
            component, and under "" for all.
    """

    files: dict[str, bytes]
    remarks: dict[str, list[str]]


def taken(path: Path, components: Collection[str]) -> Taken:
    """Take a submission in as `take_in` does, and look for what was meant by what is not there.

    Args:
        path: the folder or archive.
        components: the names of the files that are graded, without `.py`.

    Raises:
        Rejected: as for `take_in`; also of an archive in the archive.
    """
    if not components:
        return Taken(take_in(path), {})
    files, installed = look_through(path)
    remarks: dict[str, list[str]] = {}
    if any(main_file(name, files) not in files for name in components):
        files = _with_what_was_meant(path, files, components, remarks)
    found = reached(files, components)
    if any(main_file(name, found.files) in found.files for name in components):
        _say_what_was_left(found, installed, remarks)
    return Taken(found.files, remarks)


def _with_what_was_meant(
    path: Path,
    files: dict[str, Content],
    components: Collection[str],
    remarks: dict[str, list[str]],
) -> dict[str, Content]:
    """Return the files with what was meant by a component that is not there; remark on it."""
    names: set[str] = set()

    def looked_at(name: str) -> bool:
        if not name.endswith(".py"):
            names.add(name)
        return name.endswith(_NOTEBOOK) or is_archive(name)

    beside = others(path, looked_at)
    archives = [name for name in beside if is_archive(name)]
    if not files and len(archives) == 1:
        # One archive in another is entered, and no further.
        files = look_through_archive(beside[archives[0]], archives[0])
        remarks.setdefault("", []).append(f"taken from {_shown(archives[0])}, packed inside")
    files, folder = _entered(files, components)
    if folder:
        remarks.setdefault("", []).append(f"taken from the folder {_shown(folder)}")
    cells = list(_cells(beside))
    unused = {
        _plain(PurePosixPath(name).stem): name
        for name in sorted({*files, *names})
        if name.removesuffix(".py") not in components
    }
    for name in components:
        if main_file(name, files) not in files:
            found, said = _meant(name, files, cells, unused)
            if found is not None:
                files[f"{name}.py"] = found
            if said:
                remarks[name] = [said]
    if not any(main_file(name, files) in files for name in components) and (files or names):
        listed = sorted([*files, *names])
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        words = f"handed in: {', '.join(map(_shown, listed[:_LISTED]))}{more}"
        remarks.setdefault("", []).append(words)
    return files


def _say_what_was_left(
    found: Reached, installed: Collection[str], remarks: dict[str, list[str]]
) -> None:
    """Remark on what was not taken in: by component what it may import, and the rest for all."""
    for component, unfit in found.unfit.items():
        said = [f"{_shown(name)}, which it names, {why}" for name, why in unfit.items()]
        remarks.setdefault(component, []).extend(_few(said, "; "))
    named = [name for name in found.left if not name.startswith(_HANDED_OUT)]
    if left := _few([*map(_shown, installed), *map(_shown, named)], ", "):
        remarks.setdefault("", []).append(f"left out, as no component imports it: {left[0]}")


def _few(words: Sequence[str], between: str) -> list[str]:
    """Join the first of some words, and say how many more there are; nothing where none is."""
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return [f"{between.join(words[:_LISTED])}{more}"] if words else []


def _entered(
    files: dict[str, Content], components: Collection[str]
) -> tuple[dict[str, Content], str]:
    """Enter the one folder that holds components, if none lie above it; return its path, too."""
    named = [file for file in map(PurePosixPath, files) if _plain(file.stem) in components]
    packages = [file.parent for file in map(PurePosixPath, files) if file.name == "__init__.py"]
    named += [folder for folder in packages if folder.name in components]
    folders = {str(file.parent) for file in named}
    if len(folders) != 1 or "." in folders:
        return files, ""
    folder = folders.pop()
    start = f"{folder}/"
    inside = {n.removeprefix(start): data for n, data in files.items() if n.startswith(start)}
    return inside, folder


def _meant(
    name: str,
    files: Mapping[str, Content],
    cells: list[tuple[str, str, bytes]],
    others_named: Mapping[str, str],
) -> tuple[Content | None, str]:
    """Return what was meant by a component that is not there, and what is to be said of it."""
    similar = [file for file in files if "/" not in file and _plain(file[:-3]) == name]
    own = [(notebook, text) for notebook, file, text in cells if file == f"{name}.py"]
    if len(similar) + len(own) > 1:
        places = [*map(_shown, similar), *(f"a cell of {_shown(notebook)}" for notebook, _ in own)]
        return None, f"it could be {' or '.join(places[:3])}: name one of them {name}.py"
    if similar:
        return files[similar[0]], f"taken from {_shown(similar[0])}: call it {name}.py"
    if own:
        return own[0][1], f"taken from a cell of {_shown(own[0][0])}"
    near = difflib.get_close_matches(name, others_named, n=1, cutoff=_NEAR)
    return None, f"the nearest name handed in is {_shown(others_named[near[0]])}" if near else ""


def _cells(beside: Mapping[str, bytes]) -> Iterator[tuple[str, str, bytes]]:
    """Yield notebook, file and text of the code cells that begin with the name of a file."""
    for notebook, data in beside.items():
        if not notebook.endswith(_NOTEBOOK):
            continue
        try:
            read: Any = json.loads(data)
            for cell in read["cells"]:
                source = cell["source"]
                text = source if isinstance(source, str) else "".join(source)
                if cell["cell_type"] != "code":
                    continue
                first, _, rest = text.lstrip().partition("\n")
                if begins := _CELL.match(first):
                    # The first line stays a comment, so that lines have their numbers.
                    yield notebook, begins[1], f"# {begins[1]}\n{rest}\n".encode()
        except (ValueError, LookupError, TypeError, RecursionError):
            continue


def _plain(stem: str) -> str:
    """Return a name without case and without what a system adds to a second copy."""
    return _COPY.sub("", stem.casefold())


def _shown(name: str) -> str:
    return clean(name.encode(errors="backslashreplace").decode(), _NAME)
