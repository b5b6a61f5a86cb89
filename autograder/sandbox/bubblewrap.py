"""What bubblewrap is told: the namespaces, and which files are in them. Judge's side."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from autograder.sandbox.paths import View

_PACKAGE = Path(__file__).resolve().parents[1]
# What of this package a zygote runs.
_RUN = ("__init__.py", "exchange", "sandbox")


def command(
    view: View, scratches: str, scratch: str, environment: Mapping[str, str]
) -> Iterator[str]:
    """Yield the words of bubblewrap's command, behind which that of the zygote stands.

    Args:
        view: what it sees of this machine's files.
        scratches: a folder to make.
        scratch: a folder to make in it, over which every child mounts its own.
        environment: its environment, and nothing else.
    """
    yield from ("bwrap", "--die-with-parent", "--new-session", "--clearenv")
    for key, value in environment.items():
        yield from ("--setenv", key, value)
    for kind in ("user", "ipc", "pid", "net", "uts"):
        yield f"--unshare-{kind}"
    # For the namespaces of the children; every child drops it.
    yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP")
    for link in view.links:
        yield from ("--symlink", os.readlink(link), link)
    # Outer ones first, which would hide what lies in them.
    for path in sorted({*view.shown, *(str(_PACKAGE / name) for name in _RUN)}):
        yield from ("--ro-bind", path, path)
    # Single devices: with --dev, a child could not be given namespaces of its own.
    for device in ("null", "zero", "random", "urandom"):
        yield from ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    yield from ("--proc", "/proc", "--dir", scratches, "--dir", scratch, "--chdir", "/")
