"""A child: confines itself, takes one submission from the wire, and answers for one component."""

from __future__ import annotations

import json
import os
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from autograder.exchange.exceptions import unsent
from autograder.exchange.executor import Executor
from autograder.exchange.guard import Guard
from autograder.exchange.messages import Reply, StudentError
from autograder.sandbox import confine
from autograder.sandbox.handed import imports_from
from autograder.sandbox.lender import Lender, lend
from autograder.sandbox.probe import attempt_escapes
from autograder.sandbox.replies import encode_reply
from autograder.sandbox.seal import Seals
from autograder.sandbox.wire import Pipe, decode_request

_SCRATCH_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Setup:
    """How children are confined; the same for all of one zygote.

    `tier` is 1 (namespaces and all), 2 (no namespaces), 3 (a root folder, `jail`, and a user of
    its own) or 0 (nothing). `project` names the
    project's own modules: to look for them among thousands would touch the memory of each.
    `readable` is a Landlock ruleset, `around` are the folders that it is about. `forbidden` are the
    operations that the zygote's guard refuses. `seals` are their kernels, None where they cannot be
    sealed; then `sealed_program` is not used either.
    """

    tier: int
    project: list[str]
    readable: int
    around: list[str]
    program: bytes
    sealed_program: bytes
    seals: Seals | None
    forbidden: list[str]
    uid: int
    keep_reading: bool
    jail: str

    def filter_for(self, task: Task) -> bytes:
        """Return the filter of system calls for a child."""
        sealed = self.seals is not None and bool(task.operations)
        return self.sealed_program if sealed else self.program


@dataclass(frozen=True)
class Task:
    """What one child is for: the terms of a component, as the judge sent them.

    `ours` are files of the submission's folder that may call forbidden operations, `others` those
    of other components. `lent` are the forbidden operations that a lender performs for `ours`.
    `users` are whom the child and its lender become on tier 3, where nobody else is them.
    """

    component: str
    scratch: str
    limits: confine.Limits
    program: bool
    ours: list[str]
    others: list[str]
    operations: list[str]
    modules: list[str]
    functions: list[str]
    lent: list[str]
    users: list[int]


def run_lender(setup: Setup, guard: Guard, line: int, task: Task) -> None:
    """Become what performs forbidden operations for the grader's files in a child.

    `guard` was installed reversibly before the fork, `line` leads to the child.
    """
    guard.uninstall()
    _seal(setup, task, [name for name in task.operations if name not in task.lent])
    _confine(setup, task, line, lender=True)
    _forget_project(setup.project)
    lend(line, task.lent)


def run_child(setup: Setup, guard: Guard, wire: int, line: int, task: Task) -> None:
    """Become the child; returns when the judge closes the wire.

    `guard` was installed reversibly before the fork, `line` leads to a lender, if there is one.
    """
    scratch = task.scratch
    anew = bool(task.ours) or task.operations != setup.forbidden
    if anew:
        # It is installed anew, in the form that suits the task, once the files are there.
        guard.uninstall()
        guard.forbid(task.operations)
    else:
        guard.settle()
    _seal(setup, task, task.operations)
    _confine(setup, task, wire, *([line] if task.lent else []))
    lender = Lender(line)

    pipe = Pipe(wire)
    receive, send = pipe.receive, pipe.send
    (names_size,) = struct.unpack("<I", receive(4))
    listing = json.loads(receive(names_size))
    if "reach" in listing:
        assert setup.seals is not None
        setup.seals.reach(listing["reach"])
        return
    if "probe" in listing:
        _forget_project(setup.project)
        found = json.dumps(attempt_escapes(listing["probe"])).encode()
        send(struct.pack("<I", len(found)) + found)
        return
    os.chdir(scratch)
    handed_over = {}
    for name, size in listing["files"]:
        data = handed_over[f"{scratch}/{name}"] = receive(size)
        _write_file(name, data)
    sys.path_hooks.insert(0, imports_from(scratch, handed_over))
    # Looked up before, where everything could be written to.
    tempfile.tempdir = scratch
    # What torch settled for the zygote is settled anew, in a folder that the child may write.
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)
    _forget_project(setup.project)
    guard.charge(Path(scratch))
    if anew and task.operations:
        guard.watch(task.ours, task.lent, lender.function)
    executor = Executor(
        Path(scratch), task.component, fatal=(), own_tensors=True, program=task.program
    )
    load_error: StudentError | None = None
    loaded = False
    while True:
        nonce, request = decode_request(receive)
        if not loaded:
            executor.code.load_provided()
            guard.refuse_names(
                task.modules, task.functions, last=True, is_others=task.others.__contains__
            )
            load_error, loaded = executor.load(), True
        reply = Reply(error=load_error)
        if load_error is None:
            reply = executor.perform(request)
        reply.forbidden = guard.uses()
        try:
            frame = encode_reply(reply, nonce)
        except Exception as error:
            frame = encode_reply(Reply(error=unsent(error), forbidden=guard.uses()), nonce)
        send(frame)


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


def _seal(setup: Setup, task: Task, operations: Sequence[str]) -> None:
    if setup.seals is not None:
        setup.seals.set(operations)
        # Without oneDNN, which would write machine code for every shape.
        torch._C._set_mkldnn_enabled(not task.operations)


def _confine(setup: Setup, task: Task, *keep: int, lender: bool = False) -> None:
    """Confine this process, the child or its lender; it keeps these descriptors alone."""
    scratch = task.scratch
    if setup.tier == 0:
        confine.close_descriptors(*keep)
        return
    if setup.tier == 3:
        _confine_to_jail(setup, task, *keep, lender=lender)
        return
    # Limits are read from /proc, so they come before it is hidden.
    confine.limit_resources(task.limits)
    if setup.tier == 1:
        confine.unshare(confine.CLONE_NEWNS | confine.CLONE_NEWIPC)
        confine.mount_scratch(scratch, _SCRATCH_BYTES)
    confine.close_descriptors(*keep, setup.readable)
    os.chdir(scratch)
    if setup.uid:
        confine.change_user(setup.uid, setup.keep_reading)
    confine.drop_privileges(setup.keep_reading)
    confine.restrict_files(setup.readable, setup.around, scratch)
    confine.restrict_calls(setup.filter_for(task))


def _confine_to_jail(setup: Setup, task: Task, *keep: int, lender: bool) -> None:
    uid = task.users[1 if lender else 0]
    confine.limit_resources(task.limits)
    confine.limit_tasks()
    confine.close_descriptors(*keep)
    confine.enter_jail(setup.jail)
    if not lender:
        os.chown(task.scratch, uid, uid)
        os.chdir(task.scratch)
    confine.change_user(uid, keep_reading=False)
    confine.drop_privileges()
    confine.restrict_calls(setup.filter_for(task))


def _forget_project(modules: list[str]) -> None:
    """Take the project's modules out of a student's reach; this code holds what it needs."""
    for name in modules:
        del sys.modules[name]
