"""How much time a submission and each of its components may take, whatever is done in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

# The share of a submission's time that is kept for those components that are still to come.
_RESERVED = 0.5


@dataclass(frozen=True)
class ComponentTime:
    """The time of one component in one phase: for its own run, and one with stand-ins.

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

    def spent(self) -> float:
        """Return how many seconds it has been used for."""
        return time.monotonic() - self.begin


class SubmissionTime:
    """Deals a submission's time out to its components, one after the other.

    Those before cannot use up what is kept for those after them, each the same.

    Args:
        limit_s: for all components.
        turns: how many there are: each component has one in each phase.
        clock: tells the time.
    """

    def __init__(
        self, limit_s: float, turns: int, clock: Callable[[], float] | None = None
    ) -> None:
        self._limit_s = limit_s
        self._clock = clock or time.monotonic
        self._left = turns
        self._kept = _RESERVED * limit_s / max(1, turns)
        self._end = self._clock() + limit_s

    def next(self, limit_s: float, spent: float = 0.0) -> ComponentTime:
        """Return the time of the next turn, of a component with this limit that spent some."""
        self._left -= 1
        now = self._clock()
        own = now + max(0.0, limit_s - spent)
        end = self._end - self._left * self._kept
        if own <= end:
            return ComponentTime(now, own, f"its time ({limit_s:g} s) is over")
        words = f"the time of the whole submission ({self._limit_s:g} s) is used up"
        return ComponentTime(now, max(now, end), words)
