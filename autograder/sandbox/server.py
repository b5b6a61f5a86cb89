"""The fork server: the warm process that children are forked from. In the sandbox, and trusted.

It never reads a submission: the judge hands it one end of a socket pair, which only the child
reads, so that no student's source is left in memory that a later child inherits.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
from base64 import b64decode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.rules.guard import Guard
from autograder.sandbox import confine
from autograder.sandbox.child import run_child
from autograder.sandbox.kernels import find_kernels
from autograder.sandbox.profile import Profile, Setup, Task
from autograder.sandbox.warm import complete_torch, warm_up

_PACKAGE = Path(__file__).resolve().parents[1]


def command(control: int, sites: Sequence[str]) -> list[str]:
    """Return the command that starts a fork server. Judge's side.

    Args:
        control: the descriptor of its end of the control socket.
        sites: the folders of packages that it and its children import from.
    """
    # This package is taken from where it lies: nothing else of its name can come into its place.
    code = f"""
import gc, importlib.util, sys
gc.disable()
sys.path += {list(sites)}
spec = importlib.util.spec_from_file_location("autograder", {str(_PACKAGE / "__init__.py")!r})
sys.modules["autograder"] = importlib.util.module_from_spec(spec)
from autograder.sandbox.server import main
main({control})
"""
    # Without `site`, which would run what lies in the folders of packages. Of its environment,
    # which is all ours, Python takes note, for that sets how it hashes.
    return [sys.executable, "-sSPB", "-c", code]


def main(control_descriptor: int) -> None:
    """Become a fork server; its setup comes in one line through the control socket."""
    if sys.platform == "linux":
        confine.die_with_parent()
    # As at a usual start of Python, which also runs whatever lies in the folders of packages.
    import site

    site.setquit()
    site.setcopyright()
    site.sethelper()
    sys.orig_argv = [""]
    control = socket.socket(fileno=control_descriptor)
    # It can read what it needs; the rest takes seconds.
    control.sendall(b"0")
    message, _ = _receive(control)
    setup = Setup(**json.loads(message or sys.exit("the judge has gone")))
    _hide_own_package()
    warm_up(setup.modules)
    serve(control, setup)


def _hide_own_package() -> None:
    """Let nobody import this package from now on; the code that runs holds what it needs of it."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
        del sys.modules[name]
    sys.modules["autograder"] = None  # type: ignore[assignment]
    for place in [p for p in sys.path_importer_cache if p.startswith(str(_PACKAGE))]:
        del sys.path_importer_cache[place]


def serve(control: socket.socket, setup: Setup) -> None:
    """Serve fork requests until the judge closes the control socket."""
    # Each child enforces the rules that it is given.
    guard = Guard(setup.forbidden)
    guard.install()
    # Found once; each child watches those that it may not use.
    kernels = find_kernels(setup.forbidden) if "torch" in sys.modules else []
    bounded = setup.tier in (1, 2)
    # Made once: every child would take milliseconds to make it.
    rules = confine.reading_rules(setup.readable, setup.scratches) if bounded else -1
    program = b64decode(setup.program)
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
        answer: dict[str, Any] = {}
        handles = []
        if "settle" in request:
            confine.gather_pages()
        elif "complete" in request:
            complete_torch()
            gc.freeze()
        elif "reap" in request:
            answer = _reap(request["reap"])
        else:
            threads = len(os.listdir("/proc/self/task"))
            if threads != 1:
                raise RuntimeError(f"the fork server has {threads} threads; forking it would hang")
            task = Task(**{**request, "profile": Profile.read(request["profile"])})
            pid = _fork(own_pids)
            if pid == 0:
                code = 70
                try:
                    control.detach()
                    confine.confine(setup, rules, program, task, descriptors[0])
                    run_child(guard, descriptors[0], task, kernels)
                    code = 0
                finally:
                    os._exit(code)
            answer, handles = {"pid": pid}, [os.pidfd_open(pid)]
        socket.send_fds(control, [json.dumps(answer).encode() + b"\n"], handles)
        for descriptor in (*descriptors, *handles):
            os.close(descriptor)


def _fork(own_pids: int) -> int:
    """Fork; on tier 1, into a new namespace of processes."""
    if own_pids < 0:
        return os.fork()
    confine.unshare(confine.CLONE_NEWPID)
    pid = os.fork()
    if pid:
        confine.setns(own_pids, confine.CLONE_NEWPID)
    return pid


def _reap(pid: int) -> dict[str, Any]:
    _, status, usage = os.wait4(pid, 0)
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {"signal": number, "cpu_s": usage.ru_utime + usage.ru_stime}


def _receive(control: socket.socket) -> tuple[bytes, list[int]]:
    data, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 1)
    while data and not data.endswith(b"\n"):
        data += control.recv(1 << 20)
    return data, descriptors
