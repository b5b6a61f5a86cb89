"""Canaries: what a confined child must not be able to do, tried before any student code runs."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
from collections.abc import Callable
from functools import partial
from typing import Any


def attempt_escapes(canaries: dict[str, Any]) -> list[str]:
    """Try every escape from inside a child and return the names of those that worked.

    Args:
        canaries: `read` and `list` are paths that must not open, `import` modules that must not
            be there, `write` a folder outside that must not take a file, `keep` a file that may be
            read and must not be changed, `pid` a process that must not be reachable.
    """
    attempts: dict[str, Callable[[], object]] = {
        "fork a process": _fork,
        "run a program": lambda: os.execv("/bin/true", ["true"]),
        "open a socket": lambda: socket.socket(),
        "open a local socket": lambda: socket.socket(socket.AF_UNIX),
        "signal another process": lambda: os.kill(canaries["pid"], 0),
        "write outside the scratch folder": lambda: _write(canaries["write"]),
        "change a file that it may read": partial(_append, canaries["keep"]),
        "change its root folder": lambda: os.chroot("."),
        "become root": lambda: os.setresuid(0, 0, 0),
        "list a folder that was opened before": _list_opened,
        "read /proc": partial(_read, "/proc/self/maps"),
        "change a file's mode": lambda: os.chmod(canaries["write"], 0o777),
    }
    for path in canaries["read"]:
        attempts[f"read {path}"] = partial(_read, path)
    for path in canaries["list"]:
        attempts[f"list {path}"] = partial(os.listdir, path)
    for name in canaries["import"]:
        attempts[f"import {name}"] = partial(importlib.import_module, name)
    worked = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except (OSError, ImportError):
            continue
        worked.append(name)
    return worked


def _fork() -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def _read(path: str) -> None:
    with open(path) as file:
        file.read(1)


def _append(path: str) -> None:
    with open(path, "ab"):
        pass


def _list_opened() -> None:
    for descriptor in range(3, 1024):
        with contextlib.suppress(OSError):
            os.listdir(descriptor)
            return
    raise OSError("no folder is open")


def _write(folder: str) -> None:
    with open(os.path.join(folder, "canary"), "w") as file:
        file.write("escaped")
