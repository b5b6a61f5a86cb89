"""Mechanical slips of a submission: what can only be meant one way is taken, and named."""

from __future__ import annotations

import difflib
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from autograder.archives import is_archive
from autograder.judge.intake import (
    MAX_BYTES,
    MAX_FILES,
    Rejected,
    others,
    take_in,
    take_in_archive,
)
from autograder.text import clean

# As systems call a second copy: `layer_norm (1).py`, `layer_norm-1.py`.
_COPY = re.compile(r"(\s*\(\d+\)|-\d+)$")
_CELL = re.compile(r"(?:#|%%(?:writefile|file))\s+(?:\./)?([A-Za-z_]\w*\.py)\s*$")
_NOTEBOOK = ".ipynb"
_LISTED = 5
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
    files = take_in(path)
    if all(f"{name}.py" in files for name in components):
        return Taken(files, {})
    names: set[str] = set()

    def looked_at(name: str) -> bool:
        if not name.endswith(".py"):
            names.add(name)
        return name.endswith(_NOTEBOOK) or is_archive(name)

    beside = others(path, looked_at)
    remarks: dict[str, list[str]] = {}
    archives = [name for name in beside if is_archive(name)]
    if not files and len(archives) == 1:
        # One archive in another is entered, and no further.
        files = take_in_archive(io.BytesIO(beside[archives[0]]), archives[0])
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
        if f"{name}.py" not in files:
            found, said = _meant(name, files, cells, unused)
            if found is not None:
                files[f"{name}.py"] = found
            if said:
                remarks[name] = [said]
    if not any(f"{name}.py" in files for name in components) and (files or names):
        listed = sorted([*files, *names])
        more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
        words = f"handed in: {', '.join(map(_shown, listed[:_LISTED]))}{more}"
        remarks.setdefault("", []).append(words)
    if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_BYTES:
        raise Rejected(f"the Python files are too many or too large; at most {MAX_FILES}")
    return Taken({name: files[name] for name in sorted(files)}, remarks)


def _entered(files: dict[str, bytes], components: Collection[str]) -> tuple[dict[str, bytes], str]:
    """Enter the one folder that holds components, if none lie above it; return its path, too."""
    named = [file for file in map(PurePosixPath, files) if _plain(file.stem) in components]
    folders = {str(file.parent) for file in named}
    if len(folders) != 1 or "." in folders:
        return files, ""
    folder = folders.pop()
    start = f"{folder}/"
    inside = {n.removeprefix(start): data for n, data in files.items() if n.startswith(start)}
    return inside, folder


def _meant(
    name: str,
    files: Mapping[str, bytes],
    cells: list[tuple[str, str, bytes]],
    others_named: Mapping[str, str],
) -> tuple[bytes | None, str]:
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
