"""Which installed packages a child may use: torch, numpy, what an assignment names, and theirs.

Judge's side. A folder of installed packages is never opened as a whole: who grades may have
anything installed beside these.
"""

from __future__ import annotations

import functools
import platform
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distributions, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from autograder.sandbox import trees

ALWAYS = ("torch", "numpy")
# What folders of packages are called.
SITES = ("site-packages", "dist-packages")
# The distribution that this package is installed by.
OURS = "gradeformer"
_TOP_LEVEL = __name__.partition(".")[0]
# Of what an installer notes, all that a program asks for; where it came from is nobody's business.
_NOTES = ("METADATA", "PKG-INFO", "entry_points.txt")


class PackageFault(Exception):
    """A package that children are to use cannot be given to them; the message says why."""


@dataclass
class Packages:
    """What children may use of what is installed.

    Attributes:
        paths: files and folders that hold it, none of which lies in another.
        modules: where a name is imported from: a file, a package's folder, or the folders that a
            namespace is spread over.
        notes: folders and files of metadata, for `importlib.metadata`.
        versions: of every distribution, by name.
        owned: the modules at the top of every distribution, by its name.
    """

    paths: list[Path] = field(default_factory=list)
    modules: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Path] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    owned: dict[str, list[str]] = field(default_factory=dict)

    def readable(self) -> list[Path]:
        """Return the paths, and those of the metadata that may be read."""
        notes = [
            file
            for note in self.notes
            for file in ([note / name for name in _NOTES] if note.is_dir() else [note])
            if file.is_file()
        ]
        return list(dict.fromkeys([*self.paths, *notes]))

    def modules_of(self, named: Sequence[str]) -> dict[str, list[str]]:
        """Return, by name of the distribution, what can be imported of it; the likeliest first."""
        found = {}
        for name in named:
            plain = canonicalize_name(name).replace("-", "_")
            owned = self.owned.get(canonicalize_name(name), [])
            likely = [module for module in owned if module in self.modules and module[0] != "_"]
            found[name] = sorted(likely, key=lambda module: module.lower() != plain)
        return found


def check_name(name: str) -> str:
    """Return the name of a distribution that an assignment may name.

    Raises:
        ValueError: it is none.
    """
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
        raise ValueError(
            f"{name!r} is no name of a distribution: give what stands behind `pip install`, "
            "without a version"
        )
    if canonicalize_name(name) == OURS:
        raise ValueError(f"{name!r} is the grader, which no student may use")
    return name


def version_of(name: str) -> str:
    """Return the version of a distribution; "unknown" of a package that no installer knows of."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


@functools.cache
def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions that a mark may depend on, those of an assignment's `packages` too."""
    names = ("torch", "numpy", "pytest", "hypothesis", *packages)
    found = {name: version_of(name) for name in names}
    return {"python": platform.python_version(), **found}


def packages(named: Sequence[str] = ()) -> Packages:
    """Find torch, numpy and the distributions `named`, with all that they depend on.

    Raises:
        PackageFault: one of them is not installed, or would bring the grader along.
    """
    installed: dict[str, Distribution] = {}
    for distribution in distributions():
        # The first one found is the one that is imported.
        installed.setdefault(canonicalize_name(distribution.metadata["Name"] or ""), distribution)
    found = Packages()
    for name in (*ALWAYS, *named):
        if canonicalize_name(name) not in installed:
            _add_unknown(found, name, installed)
            found.owned[canonicalize_name(name)] = [name]
    asked = {canonicalize_name(name) for name in named}
    grown: dict[Path, trees.Tree] = {}
    for distribution in _closure([*ALWAYS, *named], installed):
        name = canonicalize_name(distribution.metadata["Name"])
        found.versions[name] = distribution.version
        notes = getattr(distribution, "_path", None)
        if isinstance(notes, Path):
            found.notes.append(notes)
        # Several may share a folder: only together do they own it.
        owned = trees.grow(grown, distribution)
        if not owned:
            # Installed to be edited, or by an installer that lists no files.
            listed = (distribution.read_text("top_level.txt") or "").split()
            owned = listed or [name.replace("-", "_")]
            for module in owned:
                try:
                    _add_module(found, module)
                except PackageFault:
                    # Much that is depended on only brings others along.
                    if name in asked:
                        raise
        found.owned[name] = owned
    for base, tree in grown.items():
        trees.claim(base, tree, found.paths, found.modules)
    found.paths = list(dict.fromkeys(found.paths))
    return found


def _closure(names: Sequence[str], installed: dict[str, Distribution]) -> Iterator[Distribution]:
    """Yield the distributions of these names, and what they need."""
    waiting = [(canonicalize_name(name), "", name) for name in names]
    seen: set[tuple[str, str]] = set()
    while waiting:
        name, extra, asked = waiting.pop()
        # An optional dependency that is not there is none.
        if (name, extra) in seen or name not in installed:
            continue
        if name == OURS:
            raise PackageFault(
                f"the package {asked!r} depends on the grader, which no student may use: take it "
                "out of `packages` in assignment.toml"
            )
        if not any(known == name for known, _ in seen):
            yield installed[name]
        seen.add((name, extra))
        for line in installed[name].requires or ():
            try:
                needed = Requirement(line)
            except InvalidRequirement:
                continue
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                waiting += [
                    (canonicalize_name(needed.name), wanted, asked)
                    for wanted in ("", *needed.extras)
                ]


def _add_unknown(found: Packages, name: str, installed: dict[str, Distribution]) -> None:
    """Add a package that no installer knows of, by the name that it is imported by."""
    for known in installed.values():
        if name in (known.read_text("top_level.txt") or "").split():
            raise PackageFault(
                f"there is no distribution {name!r}; {name} is imported from "
                f"{known.metadata['Name']}: name that in `packages` in assignment.toml"
            )
    _add_module(found, name)


def _add_module(found: Packages, name: str) -> None:
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    if spec is None or not (places or spec.has_location) or name == _TOP_LEVEL:
        raise PackageFault(
            f"the package {name!r} is not installed where the grader runs: install it there, or "
            "take it out of `packages` in assignment.toml"
        )
    if places and not spec.origin:
        raise PackageFault(
            f"the package {name!r} is a folder without an __init__.py, of which it is not known "
            f"what belongs to it ({places[0]}): install it"
        )
    place = Path(str(spec.origin))
    if places:
        place = place.parent
        found.paths += trees.package(place)
    else:
        found.paths += trees.with_target(place)
    found.modules[name] = [str(place)]


def strangers(found: Packages) -> list[Path]:
    """Return what lies beside the packages of children, and where each of these is listed."""
    folders = {path.parent for path in found.paths} | {note.parent for note in found.notes}
    opened = {path.resolve() for path in found.readable()}

    def is_open(path: Path) -> bool:
        real = path.resolve()
        return not opened.isdisjoint((real, *real.parents))

    closed = [folder for folder in sorted(folders) if not is_open(folder)]
    inner = {folder for path in opened for folder in path.parents}
    for folder in closed:
        if folder.name in SITES:
            closed += [
                entry
                for entry in sorted(folder.iterdir())
                if not is_open(entry) and entry.resolve() not in inner
            ]
    notes = [entry for note in found.notes if note.is_dir() for entry in sorted(note.iterdir())]
    return list(dict.fromkeys([*closed, *(entry for entry in notes if not is_open(entry))]))
