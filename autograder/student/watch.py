"""Ends student code that takes too long in the student's own run, where no sandbox does."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# How long one call may take, and any after one that was ended: another loop, or the same.
LONGEST_S = 60.0
_AGAIN_S = 10.0
# Between two looks at the clock.
_PAUSE_S = 0.25


class Timeout(TimeoutError):
    """A call took too long."""

    def __str__(self) -> str:
        return "it was stopped because it took too long: is there an endless loop?"


class Watch:
    """Raises `Timeout` in the calling thread if what it does takes too long.

    Python code is ended between two of its steps; what waits in C ends when that returns.

    Args:
        longest_s: how long it may take.
    """

    def __init__(self, longest_s: float = LONGEST_S) -> None:
        self._longest_s = longest_s
        self._lock = threading.Lock()
        # Which thread is busy, and until when it may be.
        self._busy: tuple[int, float] | None = None
        self._thread: threading.Thread | None = None
        self._ended = False

    @contextmanager
    def over(self) -> Iterator[None]:
        """Watch what is done inside."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, daemon=True)
            self._thread.start()
        self._busy = threading.get_ident(), time.monotonic() + self._longest_s
        try:
            yield
        finally:
            with self._lock:
                self._busy = None
                if self._ended:
                    # It may not have been raised yet, and is not for what comes next.
                    _raise_in(threading.get_ident(), None)
                    self._ended = False

    def _look(self) -> None:
        while True:
            time.sleep(_PAUSE_S)
            with self._lock:
                if self._busy is None or time.monotonic() < self._busy[1]:
                    continue
                thread, _ = self._busy
                self._longest_s = min(self._longest_s, _AGAIN_S)
                # Should the code catch it and go on, it is raised again.
                self._busy = thread, time.monotonic() + _AGAIN_S
                self._ended = True
                _raise_in(thread, Timeout)


def _raise_in(thread: int, kind: type[Exception] | None) -> None:
    """Have a thread raise an exception at its next step; None takes back one that waits."""
    what = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
