"""The judge's side of the sandbox: start a zygote and fork children from it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from autograder.exchange.rules import Rules
from autograder.sandbox import bubblewrap, confine, imports, paths, policy
from autograder.sandbox.cgroup import MemoryGroup, open_group
from autograder.sandbox.control import Control
from autograder.sandbox.handle import Child, SandboxFault
from autograder.sandbox.jail import SCRATCHES, Jail
from autograder.sandbox.scratch import make_scratch, remove_scratch
from autograder.sandbox.terms import Budget, Terms
from autograder.sandbox.users import Pool, User

_START_S = 120.0
_PACKAGE = Path(__file__).resolve().parents[1]
# Where children of tier 1 find their scratch folder: a folder in one that they may only read.
_SCRATCHES = "/scratch"
_SCRATCH = "/scratch/own"
# Nobody's uid, where there is a real root to come down from.
_UNPRIVILEGED = 65534


class Sandbox:
    """A running zygote and what it takes to fork children from it.

    Args:
        tier: 1, 2, 3, or 0 for none at all.
        budget: limits of a child; no child's own may be larger.
        forbidden: operations of torch that raise there, unless its own terms say otherwise.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called while the zygote starts, which takes as long as to import torch.
        sealed: operations whose kernels terms may have sealed, beside those that are `forbidden`.

    Attributes:
        view: what children see of this machine's files.
        seals: whether the kernels of forbidden operations are sealed in every child.

    Raises:
        PackageFault: one of the packages cannot be given to children.
        SandboxFault: it does not start.
    """

    def __init__(
        self,
        tier: int,
        budget: Budget,
        forbidden: Sequence[str] = (),
        packages: Sequence[str] = (),
        meanwhile: Callable[[], None] = lambda: None,
        sealed: Sequence[str] = (),
    ) -> None:
        self.tier = tier
        self.view = paths.view(packages)
        self._named = tuple(packages)
        self._terms = Terms(budget, Rules(tuple(forbidden)))
        self._jail = Jail(self.view) if tier == 3 else None
        if self._jail is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gradeformer-"))
            self._folder.chmod(0o711)
            self._scratch = self._folder
        else:
            self._folder, self._scratch = self._jail.folder, self._jail.scratches
        self._users = Pool() if tier == 3 else None
        self._sealed = bool(tier and (forbidden or sealed))
        self._unsealed = ""
        self._meanwhile = meanwhile
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._group: MemoryGroup | None = open_group() if tier else None
        # Root in a namespace is still root outside; better to be nobody there, too.
        self._as_nobody = tier == 1 and os.geteuid() == 0
        try:
            try:
                self._start()
            except SandboxFault:
                if not self._as_nobody:
                    raise
                # Nobody may not read this interpreter: it lies below a closed folder.
                self._as_nobody = False
                self._stop()
                self._start()
            if self._group is not None:
                self._group.limit(budget.memory)
        except BaseException:
            self.close()
            raise

    @property
    def notes(self) -> list[str]:
        """What else bounds the children on this machine, in words."""
        found = ["memory cgroup"] if self._group is not None else []
        if os.geteuid() == 0 and self.tier:
            dropped = self._as_nobody or self.tier in (2, 3)
            found.append("as an unprivileged user" if dropped else "as root, without its rights")
        if self._sealed:
            found.append(f"kernels {self._unsealed or 'sealed'}")
        return found

    def fork(self, component: str, files: Mapping[str, bytes], terms: Terms | None = None) -> Child:
        """Fork a child that will answer for `component` of a submission's `files`.

        Args:
            component: its name.
            files: by relative path.
            terms: its limits and rules; by default those that the sandbox was made with.
        """
        listing = json.dumps({"files": [[name, len(data)] for name, data in files.items()]})
        child = self._fork(component, terms or self._terms)
        child.send(struct.pack("<I", len(listing)) + listing.encode() + b"".join(files.values()))
        return child

    def probe(self, canaries: Mapping[str, Any]) -> list[str]:
        """Fork a child that tries to escape; return the escapes that worked."""
        listing = json.dumps({"probe": canaries}).encode()
        child = self._fork("", self._terms)
        try:
            child.send(struct.pack("<I", len(listing)) + listing)
            (size,) = struct.unpack("<I", child.read(4))
            found: list[str] = json.loads(child.read(size))
        except OSError as error:
            raise SandboxFault(f"the probe ended: {self._complaint()}") from error
        finally:
            child.close()
        return found

    def ends_over(self, operation: str) -> bool:
        """Tell whether a child that calls a kernel by its address ends over it, as it must."""
        child = self._fork("", self._terms)
        listing = json.dumps({"reach": operation}).encode()
        child.send(struct.pack("<I", len(listing)) + listing)
        with contextlib.suppress(OSError):
            child.read(1)
        return child.end().operation == operation

    def settle(self) -> None:
        """Make every later fork cheaper, which takes longer than a few forks save."""
        self._control.ask({"settle": True})

    def reap(self, folder: Path, users: Sequence[User], pid: int) -> dict[str, Any]:
        """Collect a dead child, and what it left in its folder; nobody is its user any more."""
        answer = self._control.ask({"reap": pid})[0]
        if self.tier != 1:
            # Its own alone: another child may be alive beside it.
            remove_scratch(folder)
        for user in users:
            user.give_back()
        return answer

    def close(self) -> None:
        """End the zygote, and with it every child."""
        self._stop()
        self._log.close()
        if self._group is not None:
            self._group.close()
        if self._jail is not None:
            self._jail.close()
        else:
            remove_scratch(self._folder)

    def _stop(self) -> None:
        control = getattr(self, "_control", None)
        if control is not None:
            control.close()
        process = getattr(self, "_process", None)
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        self._control = Control(ours, self._complaint, _START_S)
        with theirs:
            self._process = self._launch(theirs)
        # Only the zygote holds its end now: should it die, we hear of it at once.
        self._configure()

    def _launch(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        words = imports.command(theirs.fileno())
        if self.tier == 1:
            around = bubblewrap.command(self.view, _SCRATCHES, _SCRATCH, imports.ENVIRONMENT)
            words = [*around, *words]
        return subprocess.Popen(
            words,
            env=imports.ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[theirs.fileno()],
            # The worker has a single thread, so that this is safe.
            preexec_fn=self._before_start,
        )

    def _before_start(self) -> None:
        if self._group is not None:
            self._group.join()
        if self._as_nobody:
            confine.change_user(_UNPRIVILEGED, keep_reading=False)

    def _configure(self) -> None:
        root = os.geteuid() == 0 and self.tier == 2
        scratches = {1: _SCRATCHES, 3: SCRATCHES}.get(self.tier, str(self._scratch))
        config = {
            "tier": self.tier,
            "readable": self.view.readable,
            "around": self.view.around(scratches),
            "scratch": scratches,
            "program": base64.b64encode(policy.seccomp_program() if self.tier else b"").decode(),
            "forbidden": list(self._terms.rules.operations),
            "sealed": self._sealed,
            "sealed_program": base64.b64encode(
                policy.seccomp_program(sealed=True) if self._sealed else b""
            ).decode(),
            "libraries": self.view.extensions() if self._sealed else [],
            "uid": _UNPRIVILEGED if root else 0,
            "keep_reading": root,
            "jail": "" if self._jail is None else str(self._jail.folder),
            "package": str(_PACKAGE),
            "modules": self.view.modules,
            "notes": [str(note) for note in self.view.packages.notes],
            "warm": self.view.packages.modules_of(self._named),
        }
        self._control.tell(config)
        if self._jail is not None:
            self._jail.fill()
        # Whether it could start at all; before that, nothing else is begun.
        self._control.alive()
        self._meanwhile()
        self._unsealed = self._control.hear()[0]["unsealed"]
        self.seals = self._sealed and not self._unsealed
        if self._jail is not None:
            self._jail.finish(self._process.pid)

    def _fork(self, component: str, terms: Terms) -> Child:
        # No child can list where they lie, nor guess the name of another's.
        folder = self._scratch / secrets.token_hex(16)
        users: list[User] = []
        if self._users is not None:
            users = [self._users.take(folder) for _ in range(2 if terms.lent else 1)]
        ours, theirs = socket.socketpair()
        if self.tier != 1:
            owner = _UNPRIVILEGED if self.tier == 2 and os.geteuid() == 0 else None
            make_scratch(folder, owner)
        scratch = {1: _SCRATCH, 3: f"{SCRATCHES}/{folder.name}"}.get(self.tier, str(folder))
        with theirs:
            budget, rules = terms.budget, terms.rules
            message = {
                "component": component,
                "scratch": scratch,
                "ours": terms.ours,
                "others": terms.others,
                "program": terms.program,
                "operations": rules.operations,
                "modules": rules.modules,
                "functions": rules.functions,
                "lent": terms.lent,
                "users": [user.uid for user in users],
                "limits": {
                    "cpu_s": budget.cpu_s + 1,
                    "memory": budget.memory,
                    "file_size": budget.file_size,
                },
            }
            answer, handle = self._control.ask(message, theirs.fileno())
        return Child(partial(self.reap, folder, users), budget, ours, answer["pid"], handle)

    def _complaint(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
