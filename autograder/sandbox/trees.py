"""Which paths in a folder of installed packages belong to some of them. Judge's side."""

from __future__ import annotations

import csv
import os
from importlib.machinery import all_suffixes
from importlib.metadata import Distribution
from pathlib import Path

_INITS = tuple(f"__init__{suffix}" for suffix in all_suffixes())
# Files that nothing opens when code runs.
UNUSED = (".a", ".cuh", ".h", ".hpp", ".pyi")

# What a folder holds, by name; None is a file.
Tree = dict[str, "Tree | None"]


def grow(trees: dict[Path, Tree], distribution: Distribution) -> list[str]:
    """Add a distribution's files to the tree of their folder; return the modules at its top."""
    base = Path(str(distribution.locate_file("")))
    notes = getattr(distribution, "_path", None)
    tree = trees.setdefault(base, {})
    owned: dict[str, None] = {}
    # Read here: `files` of a distribution looks at each of torch's thousands.
    for row in csv.reader((distribution.read_text("RECORD") or "").splitlines()):
        parts = row[0].split("/") if row else [""]
        outside = ".." in parts or not parts[0]
        # A .pth runs whatever stands in it, and tells where things are.
        if outside or (len(parts) == 1 and not parts[0].endswith(tuple(all_suffixes()))):
            continue
        if parts[0].startswith("__editable__") or (notes is not None and parts[0] == notes.name):
            continue
        place = tree
        for part in parts[:-1]:
            inner = place.setdefault(part, {})
            if inner is None:
                break
            place = inner
        else:
            place[parts[-1]] = None
            owned[_module_of(parts[0]) or parts[0]] = None
    return list(owned)


def claim(
    folder: Path,
    tree: Tree,
    paths: list[Path],
    modules: dict[str, list[str]],
    outer: tuple[str, ...] = (),
) -> None:
    """Find few paths that hold what a tree holds, and nothing of others who share the folder.

    Args:
        folder: where the tree is.
        tree: the files that are asked for.
        paths: takes what is found.
        modules: takes where each module is imported from, by its dotted name.
        outer: the name that the folder goes by.
    """
    for name, inner in tree.items():
        path = folder / name
        if inner is None:
            module = _module_of(name)
            if path.is_file() and path.suffix not in UNUSED:
                paths += with_target(path)
                if module and folder.name != "__pycache__":
                    modules[".".join((*outer, module))] = [str(path)]
        elif any(init in inner for init in _INITS):
            paths += package(path)
            modules[".".join((*outer, name))] = [str(path)]
        elif _is_whole(path, inner):
            paths.append(path)
            _spread(modules, path, (*outer, name))
        elif path.is_dir():
            _spread(modules, path, (*outer, name))
            claim(path, inner, paths, modules, (*outer, name))


def _spread(modules: dict[str, list[str]], folder: Path, name: tuple[str, ...]) -> None:
    """Note a folder that a namespace is spread over."""
    if all(part.isidentifier() and part != "__pycache__" for part in name):
        modules.setdefault(".".join(name), []).append(str(folder))


def _module_of(file: str) -> str:
    for suffix in sorted(all_suffixes(), key=len, reverse=True):
        if file.endswith(suffix) and suffix != ".pyc":
            return file.removesuffix(suffix)
    return ""


def _is_whole(folder: Path, tree: Tree) -> bool:
    """Tell whether a folder without an __init__ holds nothing of another distribution's."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return False
    for entry in entries:
        if entry.name == "__pycache__":
            continue
        inner = tree.get(entry.name, ...)
        if inner is ... or entry.is_symlink():
            return False
        if isinstance(inner, dict) and not _is_whole(Path(entry.path), inner):
            return False
    return True


def package(folder: Path) -> list[Path]:
    """Return what to open of a package: its folder; where that is made of links, theirs, too."""
    inits = [folder / name for name in _INITS if (folder / name).is_symlink()]
    return [*with_target(folder), *(init.resolve().parent for init in inits)]


def with_target(path: Path) -> list[Path]:
    """Return a path and, of a link, where it leads."""
    return [path, path.resolve()] if path.is_symlink() else [path]
