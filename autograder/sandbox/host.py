"""The judge's side of the sandbox: start a fork server and fork children from it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any

from autograder.rules.forbidden import Rules
from autograder.sandbox import confine
from autograder.sandbox.cgroup import MemoryGroup, open_group
from autograder.sandbox.handle import Child, ChildGone, SandboxFault
from autograder.sandbox.jail import SCRATCHES, Jail, Pool, User
from autograder.sandbox.packages import ALWAYS, View, modules_of, view
from autograder.sandbox.profile import Budget, Profile, Setup, Task
from autograder.sandbox.scratch import HeldFolder, remove_tree
from autograder.sandbox.server import command

_START_S = 120.0
# Of a list that a child makes, in bytes.
MOST_LISTED = 1 << 20
_PACKAGE = Path(__file__).resolve().parents[1]
# What of this package a fork server runs.
_RUN = ("__init__.py", "api", "rules", "sandbox")
# Where children of tier 1 find their scratch folder: a folder in one that they may only read.
_SCRATCHES = "/scratch"
_SCRATCH = "/scratch/own"
# Nobody's uid, where there is a real root to come down from.
_UNPRIVILEGED = 65534
# Words of what makes torch load its compiler (see `dynamo`). The fork server then does so
# before the child, whose first call would else take a second longer; nothing else depends on it.
_RARE = re.compile(
    rb"\b(func|functorch|hessian|jac(?:rev|fwd)|[jv]vp|testing|profiler|nested|jit|fx|cond|export"
    rb"|use_deterministic_algorithms|compil\w+|nn\.attention|flex_attention|_dynamo|distributed)\b"
)
# All the variables of the fork server and its children.
_ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Work gives the same answers on machines with and without a GPU.
    "CUDA_VISIBLE_DEVICES": "-1",
}


class Sandbox:
    """A running fork server and what it takes to fork children from it.

    Args:
        tier: 1, 2, 3, or 0 for none at all.
        budget: limits of a child; no child's own may be larger.
        forbidden: all operations of torch, and functions and classes by dotted name, that the
            profile of a child may forbid; they are forbidden to one without a profile of its own.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called while the fork server starts, which takes as long as to import torch.
        tensors: whether torch is imported for all children; else one that uses it does so itself.

    Attributes:
        view: what children see of this machine's files.
        users: where children of tier 3 get a user each from; None on other tiers.
        jail: the root folder of children of tier 3; None on other tiers.

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
        tensors: bool = True,
    ) -> None:
        self.tier = tier
        self.view = view()
        always = ALWAYS if tensors else tuple(name for name in ALWAYS if name != "torch")
        self._tensors = tensors
        self._modules = modules_of((*always, *packages))
        self._forbidden = list(dict.fromkeys(forbidden))
        operations = tuple(name for name in self._forbidden if "." not in name)
        functions = tuple(name for name in self._forbidden if "." in name)
        self._profile = Profile(budget, Rules(operations, functions=functions))
        self._meanwhile = meanwhile
        self.users = Pool() if tier == 3 else None
        self.jail = Jail(self.view) if tier == 3 else None
        self._folder = HeldFolder() if tier in (0, 2) else None
        # Where scratch folders are for this process, and for children. On tier 1 they are in
        # memory, and in a namespace of the child's own.
        self._outside: Path | None = None
        self._scratches = _SCRATCHES
        if self.jail is not None:
            self._outside, self._scratches = self.jail.scratches, SCRATCHES
        elif self._folder is not None:
            self._outside, self._scratches = self._folder.path, str(self._folder.path)
        # Whom children of tier 2 become, where there is a choice.
        self._uid = _UNPRIVILEGED if tier == 2 and os.geteuid() == 0 else 0
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._group: MemoryGroup | None = open_group() if tier else None
        # Root in a namespace is still root outside; better to be nobody there, too.
        self._as_nobody = tier == 1 and os.geteuid() == 0
        try:
            if self._folder is not None:
                self._folder.path.chmod(0o711)
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
                # A child, and another one that is not large (`Child.is_large`).
                self._group.limit(budget.memory * 3 // 2)
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

    def fork(
        self, component: str, files: Mapping[str, bytes], profile: Profile | None = None
    ) -> Child:
        """Fork a child that will answer for `component` of a submission's `files`.

        Args:
            component: its name.
            files: by relative path.
            profile: its limits and rules; by default those that the sandbox was made with.
        """
        if self._tensors and any(map(_RARE.search, files.values())):
            self._ask({"complete": True})
        return self._fork(component, profile or self._profile, {}, files)

    def probe(self, canaries: Mapping[str, Any]) -> list[str]:
        """Fork a child that tries to escape; return the escapes that worked."""
        try:
            found: list[str] = self._listed({"probe": canaries}, {})
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
        return self._listed({"read": ordinary}, files)

    def spell(
        self, files: Mapping[str, bytes], names: Mapping[str, Sequence[str]]
    ) -> list[list[str]]:
        """Fork a child that reads what components define, and runs none of it.

        Args, and what it returns, are those of `given.spell`.

        Raises:
            ChildGone: it died over it, or took longer than a call may.
        """
        return self._listed({"spell": dict(names)}, files)

    def settle(self) -> None:
        """Make every later fork cheaper, which takes as long as it saves with one submission."""
        self._ask({"settle": True})

    def close(self) -> None:
        """End the fork server, and with it every child."""
        self._stop()
        self._log.close()
        if self._group is not None:
            self._group.close()
        for folder in (self.jail, self._folder):
            if folder is not None:
                folder.close()

    # Children.

    def _listed(self, request: dict[str, Any], files: Mapping[str, bytes]) -> list[Any]:
        """Have a child make a list of something, and end."""
        child = self._fork("", self._profile, request, files)
        try:
            return child.listed(MOST_LISTED)
        finally:
            child.close()

    def _fork(
        self, component: str, profile: Profile, request: dict[str, Any], files: Mapping[str, bytes]
    ) -> Child:
        scratch, folder, user = _SCRATCH, None, None
        if self._outside is not None:
            # No child can list where they lie, nor guess the name of another's.
            name = secrets.token_hex(16)
            scratch, folder = f"{self._scratches}/{name}", self._outside / name
            if self.users is not None:
                user = self.users.take(folder)
            folder.mkdir(0o700)
            if self._uid:
                os.chown(folder, self._uid, self._uid)
        task = Task(component, scratch, 0 if user is None else user.uid, profile)
        ours, theirs = socket.socketpair()
        with theirs:
            answer, handle = self._ask(asdict(task), theirs.fileno())
        reap = partial(self._reap, folder, user)
        child = Child(reap, profile.budget, ours, answer["pid"], handle)
        names = [[name, len(data)] for name, data in files.items()]
        listing = json.dumps({"files": names, **request}).encode()
        child.send(struct.pack("<I", len(listing)) + listing + b"".join(files.values()))
        return child

    def _reap(self, folder: Path | None, user: User | None, pid: int) -> dict[str, Any]:
        """Collect a dead child, and what it left in its folder; nobody is its user any more."""
        answer = self._ask({"reap": pid})[0]
        if folder is not None:
            # Its own alone: another child may be alive beside it.
            remove_tree(folder)
        if user is not None:
            user.give_back()
        return answer

    # The fork server.

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(_START_S)
        with theirs:
            self._process = self._launch(theirs)
        # Only the fork server holds its end now: should it die, we hear of it at once.
        program = confine.seccomp_program() if self.tier else b""
        setup = Setup(
            tier=self.tier,
            readable=self.view.readable,
            around=self.view.around(self._scratches),
            scratches=self._scratches,
            program=base64.b64encode(program).decode(),
            uid=self._uid,
            jail="" if self.jail is None else str(self.jail.folder),
            forbidden=self._forbidden,
            modules=self._modules,
        )
        self._tell(asdict(setup))
        # Whether it could start at all; before that, nothing else is begun.
        self._hear(1)
        self._meanwhile()
        self._hear()
        if self.jail is not None:
            self.jail.fill(self._process.pid)

    def _launch(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        words = command(theirs.fileno(), self.view.sites)
        if self.tier == 1:
            words = [*_bubblewrap(self.view), *words]
        return subprocess.Popen(
            words,
            env=_ENVIRONMENT,
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
            confine.change_user(_UNPRIVILEGED)

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _ask(self, message: dict[str, Any], *descriptors: int) -> tuple[dict[str, Any], int]:
        """Tell the fork server something; return its answer, and a descriptor or -1."""
        self._tell(message, *descriptors)
        return self._hear()

    def _tell(self, message: dict[str, Any], *descriptors: int) -> None:
        with self._talking() as control:
            line = json.dumps(message).encode() + b"\n"
            # Only the first part has to fit the socket.
            sent = socket.send_fds(control, [line], descriptors)
            control.sendall(line[sent:])

    def _hear(self, most: int = 1 << 16) -> tuple[Any, int]:
        with self._talking() as control:
            data, handles, _, _ = socket.recv_fds(control, most, 1)
            if not data:
                raise EOFError
        return json.loads(data), handles[0] if handles else -1

    @contextlib.contextmanager
    def _talking(self) -> Iterator[socket.socket]:
        assert self._control is not None
        try:
            yield self._control
        except (OSError, EOFError) as error:
            raise SandboxFault(f"the sandbox stopped: {self._complaint()}") from error

    def _complaint(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _bubblewrap(view: View) -> Iterator[str]:
    """Yield the words of bubblewrap's command, behind which that of the fork server stands."""
    # Found in the judge's PATH, which is not that of the fork server.
    yield from (
        shutil.which("bwrap") or "bwrap",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
    )
    for key, value in _ENVIRONMENT.items():
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
    # Every child mounts its own scratch folder over the inner one.
    yield from ("--proc", "/proc", "--dir", _SCRATCHES, "--dir", _SCRATCH, "--chdir", "/")
