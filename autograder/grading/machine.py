"""What grading has here: how many processors, and a Python that was built to be fast or not."""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Mapping
from typing import Any

_LEVELS = ("2", "3", "fast")
# By measurements of itself. Distributions, whose Python is the system's, do so by other means.
_PROFILED = ("--enable-optimizations", "-fprofile-use", "-fprofile-instr-use")
_SYSTEMS = "--prefix=/usr"


def cores() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slow_build(about: Mapping[str, Any] | None = None) -> str | None:
    """Say in a sentence that this Python was built without optimisation; None where it was not.

    Args:
        about: how it was built, as `sysconfig` has it; by default of this one.
    """
    found = sysconfig.get_config_vars() if about is None else about
    arguments, *flags = (str(found.get(n) or "") for n in ("CONFIG_ARGS", "OPT", "PY_CFLAGS"))
    # The compiler takes the last that it is given.
    level = re.findall(r"(?:^|\s)-O(\w*)", " ".join(flags))[-1:]
    if found.get("Py_DEBUG") or "--with-pydebug" in arguments:
        why = "with --with-pydebug"
    elif level and level[0] not in _LEVELS:
        why = f"with -O{level[0]}"
    # Of a build that says nothing, as on Windows, nothing is known.
    elif (
        arguments
        and f"'{_SYSTEMS}'" not in arguments
        and not any(word in " ".join([arguments, *flags]) for word in _PROFILED)
    ):
        why = "without --enable-optimizations"
    else:
        return None
    return (
        f"this Python was built {why} and grades more slowly than another: Debian's, python.org's "
        "and uv's builds are faster (docs/scale.md)"
    )
