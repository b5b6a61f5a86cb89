"""What a zygote sees of this machine's files, and what a child may read of them. Judge's side."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES, all_suffixes
from pathlib import Path

from autograder.sandbox.packages import SITES, Packages, packages

_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "urandom", "random"))
# Beyond this many shared libraries in a folder, the zygote is shown the folder.
_MANY = 64


@dataclass(frozen=True)
class View:
    """What is to be seen and read.

    Attributes:
        links: symbolic links that the zygote needs.
        shown: files and folders that the zygote needs, outer ones first.
        emptied: folders in these of which only what is shown by itself may be seen.
        readable: what a child may read, with all that lies below.
        packages: what of it are installed packages.
        libraries: what of it are shared libraries of the system, and folders of them.
        modules: what is imported by name, as `Packages.modules`: where a child may read what a
            folder holds, but not list it.
    """

    links: tuple[str, ...]
    shown: tuple[str, ...]
    emptied: tuple[str, ...]
    readable: tuple[str, ...]
    packages: Packages
    libraries: tuple[str, ...]
    modules: dict[str, list[str]]

    def extensions(self) -> list[str]:
        """Return the extension modules, of Python's own and of the packages, that may be read."""
        places = [*(folder / "lib-dynload" for folder in _standard_folders())]
        places += self.packages.readable()
        # Those of a plain name are libraries, which load by themselves with who needs them.
        suffixes = tuple(suffix for suffix in EXTENSION_SUFFIXES if suffix != ".so")
        files = (file for place in places for file in (place, *place.rglob("*.so")))
        return sorted({str(file) for file in files if file.name.endswith(suffixes)})

    def around(self, scratch: str) -> list[str]:
        """Return few folders that hold all that is readable, and no part of `scratch`."""
        found = []
        for path in self.readable:
            parent = os.path.dirname(path)
            outside = os.path.relpath(scratch, parent).startswith("..")
            found.append(parent if outside else path)
        inner = {place for place in found if any(_lies_in(place, other) for other in found)}
        return [place for place in dict.fromkeys(found) if place not in inner]


def view(named: Sequence[str] = ()) -> View:
    """Return what children see that may use torch, numpy and the distributions `named`.

    Raises:
        PackageFault: one of these cannot be given to them.
    """
    found = packages(named)
    links, executables = _executables()
    shown = [*executables, Path(sys.prefix) / "pyvenv.cfg", Path("/etc/ld.so.cache")]
    # Links alone, by which Debian chooses between libraries.
    shown.append(Path("/etc/alternatives"))
    emptied: list[Path] = []
    readable = [*_DEVICES]
    all_libraries: list[Path] = []
    for folder in _loader_folders():
        if folder.is_symlink():
            links.append(folder)
        real = folder.resolve()
        libraries = list(_libraries(real))
        all_libraries += libraries
        if len(libraries) > _MANY:
            shown.append(real)
            emptied += [place for name in SITES for place in real.glob(f"python*/{name}")]
        else:
            shown += libraries
    readable += all_libraries
    modules = {}
    for folder in _standard_folders():
        shown.append(folder)
        closed = [folder / name for name in SITES if (folder / name).is_dir()]
        emptied += closed
        if not closed:
            readable.append(folder)
            continue
        for entry in sorted(folder.iterdir()):
            if entry not in closed and not entry.name.endswith((".pth", "customize.py")):
                readable.append(entry)
                modules[entry.name.partition(".")[0]] = [str(entry)]
    readable += found.readable()
    return View(
        links=_existing(links),
        shown=_existing([*shown, *found.readable()]),
        emptied=_existing(emptied),
        readable=_existing(readable),
        packages=found,
        libraries=_existing(all_libraries),
        modules={**found.modules, **_importable(modules)},
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
    """Return where the dynamic loader looks; in these lie the packages of Python, too."""
    bases = dict.fromkeys([Path(sys.base_prefix), Path("/usr"), Path("/")])
    folders = [base / name for base in bases for name in ("lib", "lib64")]
    return [folder for folder in folders if folder.is_dir()]


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


def _importable(modules: dict[str, list[str]]) -> dict[str, list[str]]:
    return {
        name: places
        for name, places in modules.items()
        if name.isidentifier()
        and (os.path.isdir(places[0]) or places[0].endswith(tuple(all_suffixes())))
    }
