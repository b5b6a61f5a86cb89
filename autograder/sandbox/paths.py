"""What a zygote sees of this machine's files, and what a child may read of them. Judge's side."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.packages import folders

_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "urandom", "random"))
# Beyond this many shared libraries in a folder, the zygote is shown the folder.
MANY = 64


@dataclass(frozen=True)
class View:
    """What is to be seen and read.

    Attributes:
        links: symbolic links that the zygote needs.
        shown: files and folders that the zygote needs.
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
    """Yield shared libraries, and folders of nothing else but them and locales."""
    for entry in sorted(folder.iterdir()):
        whole = entry.name in ("gconv", "locale") or re.fullmatch(
            r"\w+-linux-(gnu|musl)\w*", entry.name
        )
        if whole if entry.is_dir() else re.search(r"\.so(\.|$)", entry.name):
            yield entry


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
