"""How much time a submission and each of its components may take, whatever is done in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# The share of a submission's time that is kept for those components that are still to come.
_RESERVED = 0.5


@dataclass(frozen=True)
class ComponentTime:
    """The time of one component: for its own run, one with stand-ins, and what is shown of it.

    Attributes:
        begin: when it began, by the monotonic clock.
        end: when it is over.
        words: what is said then.
    """

    begin: float
    end: float
    words: str

    @property
    def half(self) -> float:
        """When half of it is over: a run that hangs leaves the other for one with stand-ins."""
        return (self.begin + self.end) / 2


def component_time(limit_s: float, now: float | None = None) -> ComponentTime:
    """Return the time of a component that is graded alone."""
    begin = time.monotonic() if now is None else now
    return ComponentTime(begin, begin + limit_s, f"its time ({limit_s:g} s) is over")


class SubmissionTime:
    """Deals a submission's time out to its components, one after the other.

    Those before cannot use up what is kept for those after them, each the same.

    Args:
        limit_s: for all components.
        components: how many there are.
        clock: tells the time.
    """

    def __init__(
        self, limit_s: float, components: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit_s = limit_s
        self._clock = clock
        self._left = components
        self._kept = _RESERVED * limit_s / max(1, components)
        self._end = clock() + limit_s

    def next(self, limit_s: float) -> ComponentTime:
        """Return the time of the next component, whose own limit this is."""
        self._left -= 1
        now = self._clock()
        own = component_time(limit_s, now)
        end = self._end - self._left * self._kept
        if own.end <= end:
            return own
        words = f"the time of the whole submission ({self._limit_s:g} s) is used up"
        return ComponentTime(now, max(now, end), words)
