"""Hard limits on memory and threads, by a cgroup of the sandbox's own, where one may be made.

Resource limits bound what a process maps; only a cgroup bounds what a whole sandbox holds, memory
shared between processes included, and how many threads a child of root starts. Versions 1 and 2
of the kernel's interface serve.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "gradeformer-"
# How often the removal of a group is tried, a hundredth of a second apart.
_PATIENCE = 300
# The fork server's own bookkeeping, and the kernel's for it.
_SLACK = 64 * 1024 * 1024
# Processes and threads of a sandbox; a right component has one.
_TASKS = 512

_numbers = itertools.count()


@dataclass(frozen=True)
class _Kind:
    """The file names of one version."""

    limit: str
    usage: str
    swap: str


_FIRST = _Kind("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.memsw.limit_in_bytes")
_SECOND = _Kind("memory.max", "memory.current", "memory.swap.max")


class MemoryGroup:
    """A cgroup that bounds the memory of a process and all it starts.

    Args:
        folder: the group, which exists and is empty.
        kind: the version's file names.
        tasks: another group, for the number of threads, where version 1 keeps them apart.
    """

    def __init__(self, folder: Path, kind: _Kind, tasks: Path | None) -> None:
        self.folder = folder
        self._kind = kind
        self._folders = [folder] if tasks is None else [folder, tasks]

    def join(self) -> None:
        """Move the calling process into the group."""
        for folder in self._folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def limit(self, more: int) -> None:
        """Let the group hold what it holds now and this many bytes more."""
        used = int((self.folder / self._kind.usage).read_text())
        value = str(used + more + _SLACK)
        (self.folder / self._kind.limit).write_text(value)
        # Without swap, or accounting for it, the file is missing; then there is none to bound.
        with contextlib.suppress(OSError):
            swap = "0" if self._kind is _SECOND else value
            (self.folder / self._kind.swap).write_text(swap)

    def close(self) -> None:
        """Remove the group, whose processes are ending; one that stays is swept up later."""
        for folder in self._folders:
            for _ in range(_PATIENCE):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                if not folder.exists():
                    break
                time.sleep(0.01)


def open_group() -> MemoryGroup | None:
    """Make a group; None where the machine or its administrator does not allow it."""
    for parent, kind in _parents():
        _sweep(parent)
        folder = parent / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            folder.mkdir()
        except OSError:
            continue
        if os.access(folder / kind.limit, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK):
            return MemoryGroup(folder, kind, _bound_tasks(folder, kind))
        folder.rmdir()
    return None


def _bound_tasks(folder: Path, kind: _Kind) -> Path | None:
    """Bound the number of threads; return the group that does, if it is another one."""
    if kind is _SECOND:
        with contextlib.suppress(OSError):
            (folder / "pids.max").write_text(str(_TASKS))
        return None
    for controllers, path in _own_groups():
        parent = _ROOT / "pids" / path.lstrip("/")
        if "pids" in controllers.split(",") and parent.is_dir():
            _sweep(parent)
            tasks = parent / folder.name
            try:
                tasks.mkdir()
                (tasks / "pids.max").write_text(str(_TASKS))
            except OSError:
                return None
            return tasks
    return None


def _parents() -> Iterator[tuple[Path, _Kind]]:
    """Yield the groups below which one may be made."""
    found = []
    for controllers, path in _own_groups():
        if "memory" in controllers.split(","):
            found.append((_ROOT / "memory" / path.lstrip("/"), _FIRST))
        elif not controllers:
            own = _ROOT / path.lstrip("/")
            # A group that has processes may have no groups with limits: then one beside it.
            found += [(own, _SECOND), (own.parent, _SECOND)]
    for folder, kind in found:
        if folder.is_dir() and folder.is_relative_to(_ROOT):
            yield folder, kind


def _own_groups() -> Iterator[tuple[str, str]]:
    """Yield the controllers and the path of every group that this process is in."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            yield controllers, path


def _sweep(parent: Path) -> None:
    """Remove groups that graders left which were killed; one in use cannot be removed."""
    for left in parent.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX).partition("-")[0]
        if not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
