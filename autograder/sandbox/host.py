"""The judge's side of the sandbox: start a zygote and fork children from it."""

from __future__ import annotations

import base64
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
from autograder.sandbox.handle import Child, ChildGone, SandboxFault
from autograder.sandbox.jail import SCRATCHES, Jail
from autograder.sandbox.packages import ALWAYS, modules_of
from autograder.sandbox.scratch import make_scratch, remove_scratch
from autograder.sandbox.terms import Budget, Terms
from autograder.sandbox.users import Pool, User

_START_S = 120.0
# Of a list that a child makes, in bytes.
MOST_LISTED = 1 << 20
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
        forbidden: all operations of torch, and functions and classes by dotted name, that the
            terms of a child may forbid; they are forbidden to one without terms of its own.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called while the zygote starts, which takes as long as to import torch.

    Attributes:
        view: what children see of this machine's files.
        users: where children of tier 3 get a user each from; None on other tiers.

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
    ) -> None:
        self.tier = tier
        self.view = paths.view()
        self._modules = modules_of((*ALWAYS, *packages))
        self._forbidden = list(dict.fromkeys(forbidden))
        operations = tuple(name for name in self._forbidden if "." not in name)
        functions = tuple(name for name in self._forbidden if "." in name)
        self._terms = Terms(budget, Rules(operations, functions=functions))
        self._jail = Jail(self.view) if tier == 3 else None
        if self._jail is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gradeformer-"))
            self._folder.chmod(0o711)
            self._scratch = self._folder
        else:
            self._folder, self._scratch = self._jail.folder, self._jail.scratches
        self.users = Pool() if tier == 3 else None
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
        return found

    def fork(self, component: str, files: Mapping[str, bytes], terms: Terms | None = None) -> Child:
        """Fork a child that will answer for `component` of a submission's `files`.

        Args:
            component: its name.
            files: by relative path.
            terms: its limits and rules; by default those that the sandbox was made with.
        """
        return self._fork(component, terms or self._terms, {}, files)

    def probe(self, canaries: Mapping[str, Any]) -> list[str]:
        """Fork a child that tries to escape; return the escapes that worked."""
        try:
            found: list[str] = self._listed(self._terms, {"probe": canaries}, {})
        except ChildGone as gone:
            raise SandboxFault(f"the probe ended: {gone.words}; {self._complaint()}") from gone
        return found

    def read(self, files: Mapping[str, bytes], ordinary: dict[str, Any]) -> list[dict[str, Any]]:
        """Fork a child that reads the text of a submission's `files`, and runs none of it.

        Args:
            files: by relative path.
            ordinary: what the reader is told, as `reading.read_files`.

        Returns:
            What it read, as `reading.reading_of` takes it.

        Raises:
            ChildGone: it died over it, or took longer than a call may.
        """
        return self._listed(self._terms, {"read": ordinary}, files)

    def settle(self) -> None:
        """Make every later fork cheaper, which takes longer than a few forks save."""
        self._control.ask({"settle": True})

    def reap(self, folder: Path, user: User | None, pid: int) -> dict[str, Any]:
        """Collect a dead child, and what it left in its folder; nobody is its user any more."""
        answer = self._control.ask({"reap": pid})[0]
        if self.tier != 1:
            # Its own alone: another child may be alive beside it.
            remove_scratch(folder)
        if user is not None:
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
            "forbidden": self._forbidden,
            "uid": _UNPRIVILEGED if root else 0,
            "keep_reading": root,
            "jail": "" if self._jail is None else str(self._jail.folder),
            "package": str(_PACKAGE),
            "sites": self.view.sites,
            "warm": self._modules,
        }
        self._control.tell(config)
        if self._jail is not None:
            self._jail.fill()
        # Whether it could start at all; before that, nothing else is begun.
        self._control.alive()
        self._meanwhile()
        self._control.hear()
        if self._jail is not None:
            self._jail.finish(self._process.pid)

    def _listed(
        self, terms: Terms, request: dict[str, Any], files: Mapping[str, bytes]
    ) -> list[Any]:
        """Have a child make a list of something, and end."""
        child = self._fork("", terms, request, files)
        try:
            return child.listed(MOST_LISTED)
        finally:
            child.close()

    def _fork(
        self, component: str, terms: Terms, request: dict[str, Any], files: Mapping[str, bytes]
    ) -> Child:
        # No child can list where they lie, nor guess the name of another's.
        folder = self._scratch / secrets.token_hex(16)
        user = None if self.users is None else self.users.take(folder)
        ours, theirs = socket.socketpair()
        if self.tier != 1:
            owner = _UNPRIVILEGED if self.tier == 2 and os.geteuid() == 0 else None
            make_scratch(folder, owner)
        scratch = {1: _SCRATCH, 3: f"{SCRATCHES}/{folder.name}"}.get(self.tier, str(folder))
        with theirs:
            budget = terms.budget
            message = {
                "component": component,
                "scratch": scratch,
                "ours": terms.ours,
                "others": terms.others,
                "free": terms.free,
                "program": terms.program,
                "rules": vars(terms.rules),
                "user": 0 if user is None else user.uid,
                "limits": {
                    "cpu_s": budget.cpu_s + 1,
                    "memory": budget.memory,
                    "file_size": budget.file_size,
                },
            }
            answer, handle = self._control.ask(message, theirs.fileno())
        child = Child(partial(self.reap, folder, user), budget, ours, answer["pid"], handle)
        names = [[name, len(data)] for name, data in files.items()]
        listing = json.dumps({"files": names, **request}).encode()
        child.send(struct.pack("<I", len(listing)) + listing + b"".join(files.values()))
        return child

    def _complaint(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
