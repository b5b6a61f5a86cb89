"""A child: confines itself, takes one submission from the wire, and answers for one component."""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from autograder.api.executor import Executor, unsent
from autograder.api.guard import Guard
from autograder.api.messages import Reply, StudentError
from autograder.api.reading import read_files
from autograder.sandbox import confine
from autograder.sandbox.handed import imports_from
from autograder.sandbox.probe import attempt_escapes
from autograder.sandbox.profile import Profile
from autograder.sandbox.replies import encode_reply
from autograder.sandbox.wire import Pipe, decode_request

_SCRATCH_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Setup:
    """How the children of a fork server are confined.

    `tier` is 1 (namespaces and all), 2 (no namespaces), 3 (a root folder, `jail`, and a user of
    its own) or 0 (nothing). `readable` is a Landlock ruleset, `around` are the folders that it is
    about. `program` is the filter of system calls.
    """

    tier: int
    readable: int
    around: list[str]
    program: bytes
    uid: int
    keep_reading: bool
    jail: str


@dataclass(frozen=True)
class Task:
    """What one child is for: a component, on the terms of its profile.

    `scratch` is the folder that it may write to. `user` is whom it becomes on tier 3, where nobody
    else is that user.
    """

    component: str
    scratch: str
    profile: Profile
    user: int


def run_child(setup: Setup, guard: Guard, wire: int, task: Task) -> None:
    """Become the child; returns when the judge closes the wire."""
    _confine(setup, task, wire)
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
    _move_in(task.scratch, files)
    profile = task.profile
    if not profile.free:
        # What finds a submission's own modules finds all others, too, where they lie now.
        sys.meta_path.remove(PathFinder)
    folder = Path(task.scratch)
    guard.begin(folder, profile.rules, profile.ours, profile.others)
    executor = Executor(
        folder,
        task.component,
        fatal=(),
        own_tensors=True,
        program=profile.program,
        free=profile.free,
    )
    _answer(pipe, executor, guard)


def _move_in(scratch: str, files: dict[str, bytes]) -> None:
    """Write a submission's files to the scratch folder; they are imported as they were sent."""
    os.chdir(scratch)
    for name, data in files.items():
        _write_file(name, data)
    handed_over = {f"{scratch}/{name}": data for name, data in files.items()}
    sys.path_hooks.insert(0, imports_from(scratch, handed_over))
    # Looked up before, where everything could be written to.
    tempfile.tempdir = scratch
    # What torch settled for the fork server is settled anew, in a folder that the child may write.
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)


def _answer(pipe: Pipe, executor: Executor, guard: Guard) -> None:
    """Answer requests for ever; the component is imported for the first one."""
    load_error: StudentError | None = None
    loaded = False
    while True:
        nonce, request = decode_request(pipe.receive)
        if not loaded:
            load_error, loaded = executor.load(), True
        reply = Reply(error=load_error)
        if load_error is None:
            reply = executor.perform(request)
        reply.forbidden = guard.uses()
        try:
            frame = encode_reply(reply, nonce)
        except Exception as error:
            frame = encode_reply(Reply(error=unsent(error), forbidden=guard.uses()), nonce)
        pipe.send(frame)


def _send_json(pipe: Pipe, found: object) -> None:
    data = json.dumps(found).encode()
    pipe.send(struct.pack("<I", len(data)) + data)


def _write_file(name: str, data: bytes) -> None:
    """Write a file of the submission below the current folder, which it has for itself."""
    folder, _, _ = name.rpartition("/")
    if folder:
        os.makedirs(folder, exist_ok=True)
    # Plain system calls: a file object costs every child more than all the rest of this.
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    while data:
        data = data[os.write(file, data) :]
    os.close(file)


def _confine(setup: Setup, task: Task, wire: int) -> None:
    """Confine this process, which keeps the wire alone."""
    if setup.tier == 0:
        confine.close_descriptors(wire)
        return
    # Limits are read from /proc, so they come before it is hidden.
    confine.limit_resources(task.profile.budget)
    if setup.tier == 3:
        _enter_jail(setup, task, wire)
    else:
        _shut_files(setup, task, wire)
    confine.restrict_calls(setup.program)


def _shut_files(setup: Setup, task: Task, wire: int) -> None:
    if setup.tier == 1:
        confine.unshare(confine.CLONE_NEWNS | confine.CLONE_NEWIPC)
        confine.mount_scratch(task.scratch, _SCRATCH_BYTES)
    confine.close_descriptors(wire, setup.readable)
    os.chdir(task.scratch)
    if setup.uid:
        confine.change_user(setup.uid, setup.keep_reading)
    confine.drop_privileges(setup.keep_reading)
    confine.restrict_files(setup.readable, setup.around, task.scratch)


def _enter_jail(setup: Setup, task: Task, wire: int) -> None:
    confine.limit_tasks()
    confine.close_descriptors(wire)
    confine.enter_jail(setup.jail)
    os.chown(task.scratch, task.user, task.user)
    os.chdir(task.scratch)
    confine.change_user(task.user, keep_reading=False)
    confine.drop_privileges()
