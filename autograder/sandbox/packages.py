"""Python, its libraries and installed packages: what of them children see, and their versions."""

from __future__ import annotations

import csv
import functools
import importlib.metadata as metadata
import inspect
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ALWAYS = ("torch", "numpy")
# What folders of packages are called.
SITES = ("site-packages", "dist-packages")
# The distribution that this package is installed by.
OURS = "gradeformer"
_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "urandom", "random"))
# Beyond this many shared libraries in a folder, the fork server is shown the folder.
MANY = 64


class PackageFault(Exception):
    """A package that children are to use cannot be given to them; the message says why."""


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
    from packaging.utils import canonicalize_name

    if canonicalize_name(name) == OURS:
        raise ValueError(f"{name!r} is the grader, which no student may use")
    return name


def version_of(name: str) -> str:
    """Return the version of a distribution; "unknown" of a package that no installer knows of."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


@functools.cache
def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions that a mark may depend on, those of an assignment's `packages` too."""
    names = ("torch", "numpy", "pytest", "hypothesis", *packages)
    found = {name: version_of(name) for name in names}
    return {"python": platform.python_version(), **found}


def folders() -> list[Path]:
    """Return the folders of installed packages that this Python imports from.

    What is imported from elsewhere, as a package that is installed to be edited, is in none.
    """
    found = [Path(place) for place in sys.path if os.path.basename(place) in SITES]
    return list(dict.fromkeys(place.resolve() for place in found if place.is_dir()))


def modules_of(named: Sequence[str]) -> dict[str, list[str]]:
    """Return, by name of the distribution, the modules at its top; the likeliest first.

    Raises:
        PackageFault: one is not installed, or not in a folder of installed packages.
    """
    from packaging.utils import canonicalize_name

    found = {}
    for name in named:
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            raise PackageFault(_missing(name)) from None
        plain = canonicalize_name(name).replace("-", "_")
        places = {module: _place_of(module) for module in _top_level(distribution) or [plain]}
        found[name] = sorted(filter(places.get, places), key=lambda one: one.lower() != plain)
        if not found[name]:
            raise PackageFault(_missing(name))
        place = places[found[name][0]]
        if not any(Path(place).is_relative_to(folder) for folder in folders()):
            raise PackageFault(
                f"the package {name!r} lies in {place}, outside of the folders of installed "
                "packages, where no student's code may read: install it there, not to be edited "
                "and not as links"
            )
    return found


def _missing(name: str) -> str:
    others = metadata.packages_distributions().get(name)
    if others:
        return (
            f"there is no distribution {name!r}; {name} is imported from {others[0]}: name that in "
            "`packages` in assignment.toml"
        )
    return (
        f"the package {name!r} is not installed where the grader runs: install it there, or take "
        "it out of `packages` in assignment.toml"
    )


def _top_level(distribution: metadata.Distribution) -> list[str]:
    """Return what is at the top of a distribution by what its installer noted."""
    listed = (distribution.read_text("top_level.txt") or "").split()
    if not listed:
        # Read here: `files` of a distribution looks at each of them.
        rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
        paths = [row[0].split("/") for row in rows if row]
        tops = [path[0] if path[1:] else inspect.getmodulename(path[0]) for path in paths]
        listed = [top for top in tops if top and not top.startswith("__")]
    return [top for top in dict.fromkeys(listed) if top.isidentifier() and top[0] != "_"]


def _place_of(module: str) -> str:
    """Return where a module at the top lies, without links; empty if there is no such."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return ""
    places = [spec.origin] if spec.has_location else spec.submodule_search_locations
    return os.path.realpath(str(next(iter(places or [""]))))


@dataclass(frozen=True)
class View:
    """What is to be seen and read.

    Attributes:
        links: symbolic links that the fork server needs.
        shown: files and folders that the fork server needs.
        readable: what a child may read, with all that lies below.
        sites: the folders of installed packages among it.
    """

    links: tuple[str, ...]
    shown: tuple[str, ...]
    readable: tuple[str, ...]
    sites: tuple[str, ...]

    def around(self, scratch: str) -> list[str]:
        """Return few folders that hold all that is readable, and no part of `scratch`."""
        found = []
        for path in self.readable:
            parent = os.path.dirname(path)
            outside = os.path.relpath(scratch, parent).startswith("..")
            found.append(parent if outside else path)
        inner = {place for place in found if any(_lies_in(place, other) for other in found)}
        return [place for place in dict.fromkeys(found) if place not in inner]


def view() -> View:
    """Return what children see: Python, the system's shared libraries, and installed packages."""
    links, executables = _executables()
    shown = [*executables, Path(sys.prefix) / "pyvenv.cfg", Path("/etc/ld.so.cache")]
    # Links alone, by which Debian chooses between libraries.
    shown.append(Path("/etc/alternatives"))
    sites = folders()
    readable = [*_DEVICES, *_standard_folders(), *sites]
    shown += readable[len(_DEVICES) :]
    for folder in _loader_folders():
        if folder.is_symlink():
            links.append(folder)
        real = folder.resolve()
        libraries = list(_libraries(real))
        readable += libraries
        shown += libraries if len(libraries) <= MANY else [real]
    return View(
        links=_existing(links),
        shown=_existing(shown),
        readable=_existing(readable),
        sites=_existing(sites),
    )


def _existing(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(path) for path in paths if path.exists()))


def _executables() -> tuple[list[Path], list[Path]]:
    """Return the links that lead to the interpreter, and the interpreter."""
    # The command in a virtual environment is a chain of links; every link must be there.
    chain = [Path(sys.executable)]
    while chain[-1].is_symlink():
        target = os.path.join(chain[-1].parent, os.readlink(chain[-1]))
        chain.append(Path(os.path.normpath(target)))
    return chain[:-1], chain[-1:]


def _standard_folders() -> list[Path]:
    # In a virtual environment, too, these are the interpreter's own.
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    paths = sysconfig.get_paths(vars={**base, **{f"installed_{name}": base[name] for name in base}})
    return list(dict.fromkeys([Path(paths["stdlib"]), Path(paths["platstdlib"])]))


def _loader_folders() -> list[Path]:
    """Return where the dynamic loader looks."""
    bases = dict.fromkeys([Path(sys.base_prefix), Path("/usr"), Path("/")])
    places = [base / name for base in bases for name in ("lib", "lib64")]
    return [folder for folder in places if folder.is_dir()]


def _libraries(folder: Path) -> Iterator[Path]:
    """Yield shared libraries, and folders that hold libraries or locales, by their names."""
    for entry in sorted(folder.iterdir()):
        whole = entry.name in ("gconv", "locale") or re.fullmatch(
            r"\w+-linux-(gnu|musl)\w*", entry.name
        )
        if whole if entry.is_dir() else re.search(r"\.so(\.|$)", entry.name):
            yield entry


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
