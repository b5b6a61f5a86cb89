"""The fork server: the warm process that children are forked from. In the sandbox, and trusted.

It never reads a submission: the judge hands it one end of a socket pair, which only the child
reads, so that no student's source is left in memory that a later child inherits.
"""

from __future__ import annotations

import base64
import gc
import importlib
import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.api.guard import Guard
from autograder.sandbox import confine
from autograder.sandbox.child import Setup, Task, run_child
from autograder.sandbox.profile import Profile


def serve(control: socket.socket, config: dict[str, Any]) -> None:
    """Serve fork requests until the judge closes the control socket."""
    # Each child enforces the rules that it is given.
    guard = Guard(config["forbidden"])
    guard.install()
    bounded = config["tier"] in (1, 2)
    setup = Setup(
        tier=config["tier"],
        # Made once: every child would take milliseconds to make it.
        readable=confine.reading_rules(config["readable"], config["scratch"]) if bounded else -1,
        around=config["around"],
        program=base64.b64decode(config["program"]),
        uid=config["uid"],
        keep_reading=config["keep_reading"],
        jail=config["jail"],
    )
    own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if setup.tier == 1 else -1
    # What the imports left behind is not looked through: it would take longer than it frees.
    gc.freeze()
    gc.enable()
    control.sendall(b"{}\n")
    while True:
        message, descriptors = _receive(control)
        if not message:
            return
        request = json.loads(message)
        if "settle" in request:
            confine.gather_pages()
            control.sendall(b"{}\n")
            continue
        if "reap" in request:
            control.sendall(json.dumps(_reap(request["reap"])).encode() + b"\n")
            continue
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            raise RuntimeError(f"the fork server has {threads} threads; forking it would hang")
        task = Task(profile=Profile.read(request.pop("profile")), **request)
        pid = _fork(setup, guard, control, descriptors[0], task, own_pids)
        os.close(descriptors[0])
        handle = os.pidfd_open(pid)
        socket.send_fds(control, [json.dumps({"pid": pid}).encode() + b"\n"], [handle])
        os.close(handle)


def _fork(
    setup: Setup, guard: Guard, control: socket.socket, wire: int, task: Task, own_pids: int
) -> int:
    if setup.tier == 1:
        confine.unshare(confine.CLONE_NEWPID)
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            control.detach()
            run_child(setup, guard, wire, task)
            code = 0
        finally:
            os._exit(code)
    if setup.tier == 1:
        confine.setns(own_pids, confine.CLONE_NEWPID)
    return pid


def _reap(pid: int) -> dict[str, Any]:
    _, status, usage = os.wait4(pid, 0)
    return {
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else 0,
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    data, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 1)
    while data and not data.endswith(b"\n"):
        data += control.recv(1 << 20)
    return data, descriptors


def warm_up(packages: Mapping[str, Sequence[str]]) -> None:
    """Run once what is slow the first time, so that no child pays for it.

    Args:
        packages: modules of the packages that an assignment names, by distribution.
    """
    import inspect

    if "torch" in packages:
        _warm_torch()
    inspect.getsource(Path)
    for package, modules in packages.items():
        _import(package, modules)
    threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
    if threads != 1:
        raise RuntimeError(
            f"one of the packages {', '.join(packages)} starts a thread when it is imported: "
            "children cannot be given it"
        )


def _warm_torch() -> None:
    import numpy
    import torch.utils.checkpoint

    torch.set_num_threads(1)
    x = torch.randn(2, 3, 4, requires_grad=True)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU(), torch.nn.Dropout(0.5))
    for optimizer in (torch.optim.SGD, torch.optim.Adam):
        step = optimizer(model.parameters(), lr=0.0)
        loss = torch.einsum("bij,bkj->bik", model(x), x).softmax(-1).square().mean()
        torch.autograd.backward(loss)
        step.step()
    torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
    torch.func.vmap(lambda row: row.sum())(x.detach())
    torch.testing.assert_close(x, x)
    torch.from_numpy(numpy.zeros(2)).to(torch.bfloat16).sum().item()
    torch.nn.Linear(4, 4).to("meta")(torch.empty(2, 4, device="meta"))
    repr(x)
    # No child can start a compiler, and what is compiled computes the same.
    torch.compile = _uncompiled


def _uncompiled(model: Any = None, **options: Any) -> Any:
    """Stand where torch.compile does, with arguments or without, and compile nothing."""
    return (lambda later: later) if model is None else model


def _import(package: str, modules: Sequence[str]) -> None:
    """Import what a distribution holds; one of its modules must be there for everyone."""
    failed = None
    for name in modules:
        try:
            importlib.import_module(name)
        except Exception as error:
            failed = failed or error
        else:
            return
    if failed is not None:
        raise RuntimeError(f"the package {package!r} cannot be imported in the sandbox: {failed}")
