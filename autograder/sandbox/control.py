"""The judge's end of the socket on which it tells a zygote what to do."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

from autograder.sandbox.handle import SandboxFault


class Control:
    """Says a line and hears one.

    Args:
        end: of a pair of sockets.
        complaint: returns the last that the zygote said otherwise.
        patience_s: how long is waited for anything.
    """

    def __init__(self, end: socket.socket, complaint: Callable[[], str], patience_s: float) -> None:
        self._end = end
        self._complaint = complaint
        self._end.settimeout(patience_s)

    def ask(self, message: dict[str, Any], *descriptors: int) -> tuple[dict[str, Any], int]:
        """Say something; return what is answered, and the descriptor that comes along, or -1.

        Raises:
            SandboxFault: the zygote has ended, or says nothing.
        """
        self.tell(message, *descriptors)
        return self.hear()

    def tell(self, message: dict[str, Any], *descriptors: int) -> None:
        """Say something, of which only the first part has to fit the socket."""
        with self._talking():
            line = json.dumps(message).encode() + b"\n"
            sent = socket.send_fds(self._end, [line], descriptors)
            self._end.sendall(line[sent:])

    def hear(self) -> tuple[dict[str, Any], int]:
        """Hear a line."""
        with self._talking():
            data, handles, _, _ = socket.recv_fds(self._end, 1 << 16, 1)
            if not data:
                raise EOFError
        answer: dict[str, Any] = json.loads(data)
        return answer, handles[0] if handles else -1

    def alive(self) -> None:
        """Hear a single byte, which says that the zygote has begun to start."""
        with self._talking():
            if not self._end.recv(1):
                raise EOFError

    def close(self) -> None:
        """Hang up, which ends the zygote."""
        self._end.close()

    @contextlib.contextmanager
    def _talking(self) -> Iterator[None]:
        try:
            yield
        except (OSError, EOFError) as error:
            raise SandboxFault(f"the sandbox stopped: {self._complaint()}") from error
