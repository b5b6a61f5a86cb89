"""Waiting for something to become true."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T | None], seconds: float, what: str) -> T:
    """Return what `condition` answers as soon as that is something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (answer := condition()) is not None:
            return answer
        time.sleep(0.05)
    raise TimeoutError(f"after {seconds:g} s still not: {what}")
