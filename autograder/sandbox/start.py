"""The start of the fork server, and what it and its children can import.

Nothing else of this package can be imported before this has run, so it takes the standard library
alone.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location

_TOP_LEVEL = "autograder"
# All the variables of the fork server and its children.
ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class OwnPackage:
    """Finds this package for the fork server while it starts, and for nobody afterwards.

    Args:
        folder: the package's.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Find a module, for the import system."""
        if name.partition(".")[0] != _TOP_LEVEL:
            return None
        if not self._folder:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name != _TOP_LEVEL:
            return None
        file = os.path.join(self._folder, "__init__.py")
        return spec_from_file_location(name, file, submodule_search_locations=[self._folder])

    def close(self) -> None:
        """Let nothing of it be imported from now on, nor be found where it was."""
        for name in [name for name in sys.modules if name.partition(".")[0] == _TOP_LEVEL]:
            del sys.modules[name]
        for place in [place for place in sys.path_importer_cache if place.startswith(self._folder)]:
            del sys.path_importer_cache[place]
        self._folder = ""


def command(control_descriptor: int) -> list[str]:
    """Return the words that start a fork server."""
    code = "import importlib.util as util; "
    code += f"spec = util.spec_from_file_location('gradeformer_start', {__file__!r}); "
    code += "start = util.module_from_spec(spec); spec.loader.exec_module(start); "
    code += f"start.main({control_descriptor})"
    # Without `site`, which would run what lies in the folders of packages. Of its environment,
    # which is all ours, Python takes note, for that sets how it hashes.
    return [sys.executable, "-sSPB", "-c", code]


def main(control_descriptor: int) -> None:
    """Become a fork server; its configuration comes in one line through the control socket."""
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
    own = OwnPackage(config["package"])
    sys.meta_path.insert(0, own)
    sys.path += config["sites"]
    from autograder.sandbox import confine

    if sys.platform == "linux":
        confine.die_with_parent()
    from autograder.sandbox.server import serve, warm_up

    # It can read what it needs; the rest takes seconds.
    control.sendall(b"0")
    # This code holds what it needs of the project. What is imported from here on, by a package or
    # by a student, has no part in it.
    own.close()
    warm_up(config["warm"])
    serve(control, config)


def _line(control: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        part = control.recv(1 << 20)
        if not part:
            raise SystemExit("the judge has gone")
        data += part
    return data
