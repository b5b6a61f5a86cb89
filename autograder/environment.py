"""What processes that make marks are given of the caller's environment: this list, and no more.

A mark follows from the submission, the suite, the seed and the versions. Whatever else a caller
has set, for pytest, Hypothesis, Python, torch or the libraries below them, would be a fifth thing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# Where programs, folders of one's own and temporary files are, and what is kept between runs.
_KEPT = ("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "GRADEFORMER_CACHE")
# As children have it. One thread each, before torch is imported: worker and fork server fork, and
# for each GPU that it sees, torch would start another.
_SET = {
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "-1",
}
# What makes another language of Python; a command that tests are read in begins without it.
ANOTHER_PYTHON = (
    *("PYTHONOPTIMIZE", "PYTHONWARNINGS", "PYTHONHASHSEED", "PYTHONDEVMODE", "PYTHONINSPECT"),
    *("PYTHONINTMAXSTRDIGITS", "PYTHONSTARTUP", "PYTHONBREAKPOINT", "PYTHONWARNDEFAULTENCODING"),
)
# Folders of installed packages are called so.
_SITES = ("site-packages", "dist-packages")


def for_marks() -> dict[str, str]:
    """Return the environment of a process that makes marks."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, **_SET}


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Give this process, and those that it starts, the environment of one that makes marks."""
    before = dict(os.environ)
    try:
        _become(for_marks())
        yield
    finally:
        _become(before)


def _become(variables: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(variables)


def program(module: str) -> str:
    """Return the Python text that runs a module's `main`, from where this package lies.

    Neither the current folder nor PYTHONPATH leads to it; folders of installed packages that this
    process knows by PYTHONPATH come last.
    """
    sites = [place for place in sys.path if Path(place).name in _SITES]
    return f"""
import importlib.util, sys
sys.path += [place for place in {sites} if place not in sys.path]
spec = importlib.util.spec_from_file_location("autograder", {str(_PACKAGE / "__init__.py")!r})
sys.modules["autograder"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["autograder"])
from {module} import main
main()
"""
