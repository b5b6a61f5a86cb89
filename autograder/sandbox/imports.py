"""Imports in a zygote, and in its children, without any folder of packages on the path.

The zygote is started here, before anything else of this package can be imported: this file takes
nothing but the standard library.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, all_suffixes
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import Any

_TOP_LEVEL = "autograder"
# All the variables of a zygote and its children.
ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Its sums over embeddings would write machine code, which a sealed child may not.
    "FBGEMM_NO_ASMJIT": "1",
}


class Given:
    """Finds what there is to import by a table, where nothing may be listed.

    It comes last: a module of the student's own goes before one of the same name.

    Args:
        modules: a file, a package's folder or a namespace's folders, by dotted name.
        notes: folders and files of metadata.
    """

    def __init__(self, modules: Mapping[str, Sequence[str]], notes: Sequence[str]) -> None:
        self._modules = modules
        self._notes = notes

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find a module, for the import system."""
        places = self._modules.get(name)
        if not places:
            return None
        if os.path.isfile(places[0]):
            return spec_from_file_location(name, places[0])
        for suffix in all_suffixes():
            file = os.path.join(places[0], f"__init__{suffix}")
            if os.path.isfile(file):
                return spec_from_file_location(name, file, submodule_search_locations=[places[0]])
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = list(places)
        return spec

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """Find the distributions that `context` asks for, for `importlib.metadata`."""
        from importlib.metadata import PathDistribution

        wanted = getattr(context, "name", None)
        for note in self._notes:
            distribution = PathDistribution(Path(note))
            if wanted is None or _plain(distribution.metadata["Name"]) == _plain(wanted):
                yield distribution


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def _line(control: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        part = control.recv(1 << 20)
        if not part:
            raise SystemExit("the judge has gone")
        data += part
    return data


def forget(folder: str) -> None:
    """Let nothing more be imported from below `folder`."""
    for place in list(sys.path_importer_cache):
        if place.startswith(folder):
            del sys.path_importer_cache[place]


def command(control_descriptor: int) -> list[str]:
    """Return the words that start a zygote."""
    code = "import importlib.util as util; "
    code += f"spec = util.spec_from_file_location('gradeformer_imports', {__file__!r}); "
    code += "start = util.module_from_spec(spec); spec.loader.exec_module(start); "
    code += f"start.main({control_descriptor})"
    # Without `site`, which would run what lies in the folders of packages. Of its environment,
    # which is all ours, Python takes note, for that sets how it hashes.
    return [sys.executable, "-sSPB", "-c", code]


def main(control_descriptor: int) -> None:
    """Become a zygote; what it is to be comes in one line through the control socket."""
    # All that is made here is kept.
    gc.disable()
    # As at a usual start of Python, which also runs whatever lies in the folders of packages.
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.orig_argv = [""]
    control = socket.socket(fileno=control_descriptor)
    config = json.loads(_line(control))
    given = Given(config["modules"], config["notes"])
    ours = Given({_TOP_LEVEL: [config["package"]]}, [])
    sys.meta_path += [given, ours]
    from autograder.sandbox import confine

    if sys.platform == "linux":
        confine.die_with_parent()
    from autograder.sandbox.zygote import serve, warm_up

    # It can read what it needs; the rest takes seconds.
    control.sendall(b"\n")
    warm_up(config["warm"], config["libraries"])
    # Nothing of the project can be imported from here on, by us or by a student.
    sys.meta_path.remove(ours)
    forget(config["package"])
    serve(control, config)
