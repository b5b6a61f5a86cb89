"""A child: takes one submission from the wire, and answers for one component."""

from __future__ import annotations

import contextlib
import importlib
import importlib.machinery as machinery
import json
import os
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib.abc import PathEntryFinder
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from typing import Any

from autograder.api.executor import Executor, unsent
from autograder.api.messages import Reply, Request
from autograder.rules.forbidden import ForbiddenUse
from autograder.rules.given import spell
from autograder.rules.guard import Guard
from autograder.rules.reading import read_files
from autograder.sandbox.kernels import Kernel, refusing, watch_kernels
from autograder.sandbox.profile import Task
from autograder.sandbox.wire import Pipe, decode_request, encode_reply


def run_child(guard: Guard, wire: int, task: Task, kernels: list[Kernel]) -> None:
    """Send the result of a probe or a reading; else answer requests until the process ends.

    `kernels` are those of all forbidden operations; the list is emptied before student code runs.
    """
    pipe = Pipe(wire)
    (size,) = struct.unpack("<I", pipe.receive(4))
    listing = json.loads(pipe.receive(size))
    if "probe" in listing:
        _send_json(pipe, attempt_escapes(listing["probe"]))
        return
    files = {name: pipe.receive(size) for name, size in listing["files"]}
    if "read" in listing:
        _send_json(pipe, read_files(files, listing["read"]))
        return
    if "spell" in listing:
        _send_json(pipe, spell(files, listing["spell"]))
        return
    _move_in(task.scratch, files)
    profile = task.profile
    folder = Path(task.scratch)
    guard.begin(folder, profile.rules, profile.ours, profile.others)
    free = {name: data for name, data in files.items() if name in profile.ours}
    check, unreported = refusing(guard.check, task.scratch, free)
    torch = sys.modules.get("torch")
    if torch is not None:
        # A thread of the submission's own finds no pool of threads that this process was not left.
        torch.set_num_threads(1)
        names = profile.rules.names
        watched = [kernel for kernel in kernels if kernel.operation in names]
        watch_kernels(check, watched, task.scratch, lends=bool(free))
        # Here the real ones are for nobody, wherever else they are held.
        watched.clear()
        kernels.clear()
    executor = Executor(
        folder,
        task.component,
        fatal=(),
        own_tensors=True,
        program=profile.program,
        stubs=profile.stubs,
    )
    if profile.free is not None:
        executor.code.watch(profile.free)

    def uses() -> list[ForbiddenUse]:
        return guard.uses() or [ForbiddenUse(name, "", 0) for name in unreported[:1]]

    answer(pipe, executor, uses)


def _send_json(pipe: Pipe, found: object) -> None:
    data = json.dumps(found).encode()
    pipe.send(struct.pack("<I", len(data)) + data)


def answer(pipe: Pipe, executor: Executor, uses: Callable[[], list[ForbiddenUse]]) -> None:
    """Answer requests until the wire closes, which ends the process; the first one imports.

    Args:
        pipe: the wire.
        executor: answers.
        uses: returns what forbidden operations were called.
    """
    nonce, request = decode_request(pipe.receive)

    def exchange(reply: Reply) -> Request:
        nonlocal nonce
        reply.forbidden = uses()
        try:
            frame = encode_reply(reply, nonce)
        except Exception as error:
            frame = encode_reply(Reply(error=unsent(error), forbidden=uses()), nonce)
        pipe.send(frame)
        nonce, following = decode_request(pipe.receive)
        return following

    executor.conversation.exchange = exchange
    while True:
        request = exchange(executor.perform(request))


def _move_in(scratch: str, files: Mapping[str, bytes]) -> None:
    """Write a submission's files to the scratch folder; they are imported as they were sent."""
    os.chdir(scratch)
    for name, data in files.items():
        folder, _, _ = name.rpartition("/")
        if folder:
            os.makedirs(folder, exist_ok=True)
        # Plain system calls: a file object costs every child more than all the rest of this.
        file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        while data:
            data = data[os.write(file, data) :]
        os.close(file)
    handed_over = {f"{scratch}/{name}": data for name, data in files.items()}
    sys.path_hooks.insert(0, imports_from(scratch, handed_over))
    # Looked up before, where everything could be written to.
    tempfile.tempdir = scratch
    # A cache below one's home folder is a file of one's own, as any other.
    os.environ["HOME"] = scratch
    # What torch settled for the fork server is settled again, in a folder that the child may write.
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)


def imports_from(folder: str, sources: Mapping[str, bytes]) -> Callable[[str], PathEntryFinder]:
    """Return what finds modules in a folder, for `sys.path_hooks`.

    They are imported as they were handed over, whatever lies on a disk by then. What a submission
    writes there itself is imported by nobody: it has not been read.

    Args:
        folder: where the submission lies, for all who want to see its text.
        sources: its files by path.
    """

    class HandedOver(SourceFileLoader):
        def get_data(self, path: str) -> bytes:
            if path not in sources:
                raise ImportError(f"{os.path.basename(path)} was not handed in")
            return sources[path]

        def path_stats(self, path: str) -> Any:
            # Python then reads no compiled file instead.
            raise OSError

    make = FileFinder.path_hook((HandedOver, machinery.SOURCE_SUFFIXES))

    def find(path: str) -> PathEntryFinder:
        if path != folder and not path.startswith(folder + os.sep):
            raise ImportError
        # Nor is anything in there an archive of modules.
        return make(path) if os.path.isdir(path) else FileFinder(folder)

    return find


# Canaries: what a confined child must not be able to do, tried before any student code runs.


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
