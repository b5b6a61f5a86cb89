"""A child as the judge sees it: ask it, wait with a deadline, end it."""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from autograder.api.messages import Reply, Request
from autograder.sandbox.profile import Budget
from autograder.sandbox.wire import (
    FRAME,
    Receive,
    WireError,
    encode_request,
    read_reply,
    receive_reply,
    with_nonce,
)

_POLL_S = 0.05


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


class Clock:
    """Counts the seconds that children were waited for.

    Time in which a child, or who waits for it, was ready and got no processor does not count: no
    mark depends on how busy the machine is.
    """

    def __init__(self) -> None:
        self.now = 0.0

    def starved_s(self, pid: int) -> float:
        """Return how long a child and this thread have been ready without a processor, in all.

        It is 0 where the kernel does not count it.
        """
        total = 0
        for account in (f"/proc/{pid}/schedstat", "/proc/thread-self/schedstat"):
            with contextlib.suppress(OSError, IndexError), open(account) as file:
                total += int(file.read().split()[1])
        return total / 1e9


class Child:
    """One confined process that holds one component of one submission.

    Attributes:
        host_pid: its process id as this process sees it.
        slowest_call_s: the CPU seconds of its slowest call, to a few hundredths.
        clock: what its calls are counted on; a submission's children share one.
        end_of_time: the moment, by this clock, after which no call is waited for.
    """

    def __init__(
        self,
        reap: Callable[[int], dict[str, Any]],
        budget: Budget,
        wire: socket.socket,
        pid: int,
        handle: int,
    ) -> None:
        self._reap = reap
        self._budget = budget
        self._wire = wire
        self._pid = pid
        self._handle = handle
        self.host_pid = _pid_of(handle)
        # What it shares with the process that it was forked from.
        self._inherited = self._resident()
        self._buffer = bytearray()
        self.slowest_call_s = 0.0
        self.clock = Clock()
        self.end_of_time = math.inf
        self._end: dict[str, Any] | None = None

    def perform(self, request: Request) -> Reply:
        """Send a request and wait for the reply.

        Raises:
            ChildGone: it died, hung, or sent what is no reply; it is ended then.
        """
        return self.answer(self.post(encode_request(request, 0)))

    def post(self, frame: bytes) -> int:
        """Send a request's frame ahead; return the nonce under which to fetch the answer.

        Answers come in the order of the requests. The frames under way must fit the socket's
        buffer, or both sides would wait for each other. If the child has ended, this does not say
        so: the answers that it gave before can still be fetched.

        Raises:
            ChildGone: it takes no questions; it is ended then.
        """
        nonce = secrets.randbits(64)
        try:
            left = max(_POLL_S, self.end_of_time - self.clock.now)
            self._wire.settimeout(min(self._budget.call_wall_s, left))
            self._wire.sendall(with_nonce(frame, nonce))
        except TimeoutError as error:
            self.close()
            raise ChildGone("timeout", "the process does not take questions") from error
        except OSError:
            pass
        return nonce

    def answer(self, nonce: int) -> Reply:
        """Wait for the answer to a posted request.

        Raises:
            ChildGone: as for `perform`.
        """
        reply = self.answer_unless(nonce, b"")
        assert reply is not None
        return reply

    def answer_unless(self, nonce: int, right: bytes) -> Reply | None:
        """Wait for the answer to a posted request; return None if it is this reply.

        Nothing but the nonce of the reply's frame may differ. What is known need not be read.

        Raises:
            ChildGone: as for `perform`.
        """
        with self._awaited() as receive:
            received, header, data = receive_reply(receive)
            if received != nonce:
                raise WireError("the reply is not to this request")
            same = right and header + data == right[FRAME.size :]
            return None if same else read_reply(header, data)

    def listed(self, most: int) -> list[Any]:
        """Wait for a list in JSON, of at most `most` bytes, from a child that is asked nothing.

        Raises:
            ChildGone: as for `perform`.
        """
        with self._awaited() as receive:
            (size,) = struct.unpack("<I", receive(4))
            if size > most:
                raise WireError("a list is larger than its cap")
            try:
                found = json.loads(receive(size))
            except (ValueError, RecursionError) as error:
                raise WireError("a list is no JSON") from error
            if not isinstance(found, list):
                raise WireError("a list is none")
            return found

    @contextlib.contextmanager
    def _awaited(self) -> Iterator[Receive]:
        """Yield a function that receives bytes; if it fails, end the child, raise ChildGone."""
        left_s = self.end_of_time - self.clock.now
        deadline = _Deadline(self.host_pid, self._budget, self.clock, left_s)
        try:
            yield lambda size: self._receive(size, deadline)
        except WireError as error:
            self.close()
            raise ChildGone("crashed", f"the process sent no proper answer: {error}") from error
        except TimeoutError as error:
            self.close()
            raise ChildGone("timeout", str(error)) from error
        except OSError as error:
            raise self._epitaph() from error
        finally:
            self.clock.now += deadline.waited_s()
            self.slowest_call_s = max(self.slowest_call_s, deadline.cpu_s)

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

    def cpu_s(self) -> float:
        """Return the CPU time of all its threads so far, ended ones too; 0 where it is gone."""
        with contextlib.suppress(OSError):
            # As clock_getcpuclockid makes the number of a process's clock.
            return time.clock_gettime(~self.host_pid << 3 | 2)
        return 0.0

    def is_large(self) -> bool:
        """Return whether it holds more than half of the memory that it may, of its own."""
        return self._resident() - self._inherited > self._budget.memory / 2

    def _resident(self) -> int:
        fields = _stat_of(self.host_pid)
        return int(fields[21]) * os.sysconf("SC_PAGE_SIZE") if fields else 0

    def close(self) -> dict[str, Any]:
        """End the child and everything it started; return how it ended, also when it had before."""
        if self._end is None:
            self._wire.close()
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
            self._end = self._reap(self._pid)
        return self._end

    def _receive(self, size: int, deadline: _Deadline) -> bytes:
        # Most replies are a few hundred bytes in many fields: one read brings them all.
        buffer = self._buffer
        if len(buffer) < size:
            self._wire.settimeout(_POLL_S)
        while len(buffer) < size:
            # What is there is taken before the time is looked at: it may be looked at late.
            try:
                part = self._wire.recv(max(1 << 16, min(size - len(buffer), 1 << 20)))
                if not part:
                    raise ConnectionResetError("the child closed the wire")
                buffer += part
            except TimeoutError:
                pass
            # Also between bytes that do come: a child could send one a moment for ever.
            if len(buffer) < size:
                deadline.check()
        data = bytes(buffer[:size])
        del buffer[:size]
        return data

    def _epitaph(self) -> ChildGone:
        # It is dying by itself: wait for its own end, so that the kill does not hide it.
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline and _stat_of(self.host_pid)[:1] not in (["Z"], []):
            time.sleep(0.001)
        end = self.close()
        if end.get("cpu_s", 0.0) >= self._budget.cpu_s:
            return ChildGone("timeout", f"more than {self._budget.cpu_s} s of computing in all")
        if end.get("signal"):
            number = end["signal"]
            known = number in set(signal.Signals)
            name = signal.Signals(number).name if known else f"signal {number}"
            return ChildGone("crashed", f"the process died ({name})")
        return ChildGone("crashed", "the process ended itself")


class _Deadline:
    """Ends the wait for one call: computing time first, waiting time generously.

    Both are first looked at a poll after the call began, which the child gets for free. After that
    nothing counts in which the child or this process was ready and got no processor.
    """

    def __init__(self, pid: int, budget: Budget, clock: Clock, left_s: float) -> None:
        self._pid = pid
        self._budget = budget
        self._clock = clock
        self._left_s = left_s
        self._start = self._checked = time.monotonic()
        self._cpu_before: float | None = None
        self._counted_from = 0.0
        self.cpu_s = 0.0

    def check(self) -> None:
        """Raise TimeoutError, which says so for the student, when the time for the call is over."""
        now = time.monotonic()
        if now - self._checked < _POLL_S:
            return
        self._checked = now
        fields = _stat_of(self._pid)
        ticks = int(fields[11]) + int(fields[12]) if fields else 0
        used = ticks / os.sysconf("SC_CLK_TCK")
        if self._cpu_before is None:
            self._cpu_before = used
            self._counted_from = now - self._clock.starved_s(self._pid)
        self.cpu_s = used - self._cpu_before
        waited = self.waited_s()
        if self.cpu_s > self._budget.call_cpu_s:
            raise TimeoutError(f"no answer after {self._budget.call_cpu_s:g} s of computing")
        if waited > self._budget.call_wall_s:
            raise TimeoutError(f"no answer after {self._budget.call_wall_s:g} s")
        if waited > self._left_s:
            raise TimeoutError("no answer before the time for it was over")

    def waited_s(self) -> float:
        """Return how long the call has been waited for, as far as it counts."""
        now = time.monotonic()
        if self._cpu_before is None:
            return min(now - self._start, _POLL_S)
        return _POLL_S + max(
            self.cpu_s, now - self._clock.starved_s(self._pid) - self._counted_from
        )


def _pid_of(handle: int) -> int:
    with open(f"/proc/self/fdinfo/{handle}") as info:
        for line in info:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    raise SandboxFault("a child's process id is not known")


def _stat_of(pid: int) -> list[str]:
    """Return what the kernel says of a process, from its state on; nothing of one that is gone."""
    try:
        # A process may name itself with any bytes; what counts stands behind its name.
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []
