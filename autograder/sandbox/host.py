"""The judge's side of the sandbox: start a zygote, fork children from it, ask them, end them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from autograder.exchange.messages import Reply, Request
from autograder.sandbox import policy
from autograder.sandbox.wire import WireError, decode_reply, encode_request, with_nonce

_START_S = 120.0
_POLL_S = 0.05
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]
_ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
# Nobody's uid, where there is a real root to come down from.
_UNPRIVILEGED = 65534


class SandboxFault(Exception):
    """The sandbox itself failed: a fault of the grader, never of a student."""


class ChildGone(Exception):
    """The child ended, or had to be ended, before it answered.

    Attributes:
        reason: "timeout" or "crashed".
        words: what happened, for the student.
    """

    def __init__(self, reason: str, words: str) -> None:
        super().__init__(words)
        self.reason = reason
        self.words = words


@dataclass(frozen=True)
class Budget:
    """Limits of one child: seconds of CPU and wall a call, CPU for all calls, bytes."""

    call_cpu_s: float
    call_wall_s: float
    cpu_s: int
    memory: int
    file_size: int


class Child:
    """One confined process that holds one component of one submission."""

    def __init__(
        self, sandbox: Sandbox, budget: Budget, wire: socket.socket, pid: int, handle: int
    ) -> None:
        self._sandbox = sandbox
        self._budget = budget
        self._wire = wire
        self._pid = pid
        self._handle = handle
        self._host_pid = _pid_of(handle)
        self._buffer = bytearray()
        self._open = True

    @property
    def host_pid(self) -> int:
        """The child's process id as this process sees it."""
        return self._host_pid

    def perform(self, request: Request) -> Reply:
        """Send a request and wait for the reply.

        Raises:
            ChildGone: it died, hung, or sent what is no reply; it is ended then.
        """
        return self.answer(self.post(encode_request(request, 0)))

    def post(self, frame: bytes) -> int:
        """Send a request's frame ahead; return the nonce under which to fetch the answer.

        Answers come in the order of the requests. The frames under way must fit the socket's
        buffer, or both sides would wait for each other.

        Raises:
            ChildGone: as for `perform`.
        """
        nonce = secrets.randbits(64)
        try:
            self._wire.settimeout(self._budget.call_wall_s)
            self._wire.sendall(with_nonce(frame, nonce))
        except TimeoutError as error:
            self.close()
            raise ChildGone("timeout", "the process does not take questions") from error
        except OSError as error:
            raise self._epitaph() from error
        return nonce

    def answer(self, nonce: int) -> Reply:
        """Wait for the answer to a posted request.

        Raises:
            ChildGone: as for `perform`.
        """
        deadline = _Deadline(self._host_pid, self._budget)
        try:
            received, reply = decode_reply(lambda size: self._receive(size, deadline))
            if received != nonce:
                raise WireError("the reply is not to this request")
            return reply
        except WireError as error:
            self.close()
            raise ChildGone("crashed", f"the process sent no proper answer: {error}") from error
        except TimeoutError as error:
            self.close()
            raise ChildGone("timeout", deadline.words()) from error
        except OSError as error:
            raise self._epitaph() from error

    def send(self, data: bytes) -> None:
        """Send raw bytes: the submission, before the first request."""
        try:
            self._wire.settimeout(self._budget.call_wall_s)
            self._wire.sendall(data)
        except TimeoutError as error:
            self.close()
            raise SandboxFault("a new child does not read") from error
        except OSError as error:
            raise SandboxFault(f"a new child ended: {self._epitaph().words}") from error

    def read(self, size: int) -> bytes:
        """Read raw bytes (a probe's answer)."""
        return self._receive(size, _Deadline(self._host_pid, self._budget))

    def close(self) -> dict[str, Any]:
        """End the child and everything it started; return how it ended."""
        if not self._open:
            return {}
        self._open = False
        self._wire.close()
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        os.close(self._handle)
        return self._sandbox.reap(self._pid)

    def _receive(self, size: int, deadline: _Deadline) -> bytes:
        # Most replies are a few hundred bytes in many fields: one read brings them all.
        buffer = self._buffer
        self._wire.settimeout(_POLL_S)
        while len(buffer) < size:
            try:
                part = self._wire.recv(max(1 << 16, min(size - len(buffer), 1 << 20)))
            except TimeoutError:
                deadline.check()
                continue
            if not part:
                raise ConnectionResetError("the child closed the wire")
            buffer += part
        data = bytes(buffer[:size])
        del buffer[:size]
        return data

    def _epitaph(self) -> ChildGone:
        # It is dying by itself: wait for its own end, so that the kill does not hide it.
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline and _state_of(self._host_pid) not in ("Z", ""):
            time.sleep(0.001)
        end = self.close()
        if end.get("cpu_s", 0.0) >= self._budget.cpu_s:
            return ChildGone("timeout", f"more than {self._budget.cpu_s} s of computing in all")
        if end.get("signal"):
            name = signal.Signals(end["signal"]).name
            return ChildGone("crashed", f"the process died ({name})")
        return ChildGone("crashed", "the process ended itself")


class _Deadline:
    """Ends the wait for one call: computing time first, waiting time generously."""

    def __init__(self, pid: int, budget: Budget) -> None:
        self._pid = pid
        self._budget = budget
        self._end = time.monotonic() + budget.call_wall_s
        self._cpu_before: float | None = None
        self._cpu = 0.0

    def check(self) -> None:
        used = _cpu_of(self._pid)
        # First asked a poll after the call began, which the child gets for free.
        if self._cpu_before is None:
            self._cpu_before = used
        self._cpu = used - self._cpu_before
        if self._cpu > self._budget.call_cpu_s or time.monotonic() > self._end:
            raise TimeoutError

    def words(self) -> str:
        if self._cpu > self._budget.call_cpu_s:
            return f"no answer after {self._budget.call_cpu_s:g} s of computing"
        return f"no answer after {self._budget.call_wall_s:g} s"


class Sandbox:
    """A running zygote and what it takes to fork children from it.

    Args:
        tier: 1, 2, or 3 for none at all.
        budget: limits of every child.
        forbidden: operations that raise there.
    """

    def __init__(self, tier: int, budget: Budget, forbidden: Sequence[str] = ()) -> None:
        self.tier = tier
        self._forbidden = forbidden
        self._budget = budget
        self._scratch = Path(tempfile.mkdtemp(prefix="gradeformer-"))
        self._scratch.chmod(0o711)
        self._numbers = 0
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._control, theirs = socket.socketpair()
        try:
            self._process = self._start(theirs)
            self._configure()
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()

    def fork(self, component: str, files: Mapping[str, bytes]) -> Child:
        """Fork a child that will answer for `component` of a submission's `files`."""
        listing = json.dumps({"files": [[name, len(data)] for name, data in files.items()]})
        child = self._fork(component)
        child.send(struct.pack("<I", len(listing)) + listing.encode() + b"".join(files.values()))
        return child

    def probe(self, canaries: Mapping[str, Any]) -> list[str]:
        """Fork a child that tries to escape; return the escapes that worked."""
        listing = json.dumps({"probe": canaries}).encode()
        child = self._fork("")
        try:
            child.send(struct.pack("<I", len(listing)) + listing)
            (size,) = struct.unpack("<I", child.read(4))
            found: list[str] = json.loads(child.read(size))
        except OSError as error:
            raise SandboxFault(f"the probe ended: {self._complaint()}") from error
        finally:
            child.close()
        return found

    def reap(self, pid: int) -> dict[str, Any]:
        """Collect a dead child, and what it left in its folder."""
        answer = self._ask({"reap": pid})[0]
        if self.tier != 1:
            for left in self._scratch.iterdir():
                shutil.rmtree(left, ignore_errors=True)
        return answer

    def close(self) -> None:
        """End the zygote, and with it every child."""
        self._control.close()
        process = getattr(self, "_process", None)
        if process is not None:
            process.kill()
            process.wait()
        self._log.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes]:
        code = f"import sys; sys.path.insert(0, {str(_PACKAGE_ROOT)!r}); "
        code += f"from autograder.sandbox.zygote import main; main({theirs.fileno()})"
        command = [sys.executable, "-I", "-c", code]
        if self.tier == 1:
            command = [*_bubblewrap(), *command]
        return subprocess.Popen(
            command,
            env=_ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[theirs.fileno()],
        )

    def _configure(self) -> None:
        root = os.geteuid() == 0 and self.tier == 2
        config = {
            "tier": self.tier,
            "readable": policy.readable_paths(),
            "scratch": "/scratch" if self.tier == 1 else str(self._scratch),
            "program": base64.b64encode(
                policy.seccomp_program() if self.tier != 3 else b""
            ).decode(),
            "limits": {
                "cpu_s": self._budget.cpu_s + 1,
                "memory": self._budget.memory,
                "file_size": self._budget.file_size,
            },
            "forbidden": list(self._forbidden),
            "uid": _UNPRIVILEGED if root else 0,
            "keep_reading": root,
            "package_root": str(_PACKAGE_ROOT),
        }
        self._control.settimeout(_START_S)
        self._ask(config)

    def _fork(self, component: str) -> Child:
        ours, theirs = socket.socketpair()
        self._numbers += 1
        scratch = "/scratch"
        if self.tier != 1:
            folder = self._scratch / f"{os.getpid()}-{self._numbers}"
            folder.mkdir(mode=0o700)
            if self.tier == 2 and os.geteuid() == 0:
                os.chown(folder, _UNPRIVILEGED, _UNPRIVILEGED)
            scratch = str(folder)
        with theirs:
            answer, handle = self._ask(
                {"component": component, "scratch": scratch}, theirs.fileno()
            )
        return Child(self, self._budget, ours, answer["pid"], handle)

    def _ask(self, message: dict[str, Any], *descriptors: int) -> tuple[dict[str, Any], int]:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode() + b"\n"], descriptors)
            data, handles, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
        except OSError as error:
            raise SandboxFault(f"the sandbox stopped: {self._complaint()}") from error
        if not data:
            raise SandboxFault(f"the sandbox stopped: {self._complaint()}")
        answer: dict[str, Any] = json.loads(data)
        return answer, handles[0] if handles else -1

    def _complaint(self) -> str:
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _bubblewrap() -> Iterator[str]:
    yield from ("bwrap", "--die-with-parent", "--new-session", "--clearenv")
    for key, value in _ENVIRONMENT.items():
        yield from ("--setenv", key, value)
    for kind in ("user", "ipc", "pid", "net", "uts"):
        yield f"--unshare-{kind}"
    # For the namespaces of the children; every child drops it.
    yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP")
    for path in dict.fromkeys([*policy.interpreter_paths(), str(_PACKAGE_ROOT / "autograder")]):
        link = Path(path)
        if link.is_symlink():
            yield from ("--symlink", os.readlink(path), path)
        else:
            yield from ("--ro-bind", path, path)
    # Single devices: with --dev, a child could not be given namespaces of its own.
    for device in ("null", "zero", "random", "urandom"):
        yield from ("--dev-bind", f"/dev/{device}", f"/dev/{device}")
    yield from ("--proc", "/proc", "--dir", "/scratch", "--chdir", "/")


def _pid_of(handle: int) -> int:
    with open(f"/proc/self/fdinfo/{handle}") as info:
        for line in info:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    raise SandboxFault("a child's process id is not known")


def _stat_of(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()
    except OSError:
        return []


def _state_of(pid: int) -> str:
    fields = _stat_of(pid)
    return fields[0] if fields else ""


def _cpu_of(pid: int) -> float:
    fields = _stat_of(pid)
    if not fields:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
