"""The memory that components take in the student's own run, where the system tells it."""

from __future__ import annotations

import sys
from collections.abc import Mapping


def peak_mb() -> float | None:
    """Return the most memory that this process has had so far, in MB; None where nobody tells."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The one counts bytes, the others thousands of them.
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


class Memory:
    """Which components take more memory than grading gives them.

    Args:
        limits: what it gives, in MB, by component.

    Attributes:
        over: how much more each of them has taken than the libraries, in MB.
    """

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._limits = limits
        self._libraries: float | None = None
        self.over: dict[str, float] = {}

    def begin(self) -> None:
        """Note what is there before the first component: it is the libraries'."""
        self._libraries = peak_mb()

    def look(self, component: str) -> None:
        """See whether a component has just had more; a peak is told of the first that has it."""
        peak = peak_mb()
        if peak is None or self._libraries is None or component not in self._limits:
            return
        taken = peak - self._libraries
        if taken > max([self._limits[component], *self.over.values()]):
            self.over[component] = taken

    def header(self) -> list[str]:
        """Say what the limits are."""
        if not self._limits:
            return []
        given = sorted(set(self._limits.values()))
        most = " to ".join(f"{given[n]}" for n in sorted({0, len(given) - 1}))
        return [
            f"grading gives each component {most} MB of memory on top of the libraries, and "
            "starts no processes"
        ]

    def lines(self) -> list[str]:
        """Say which components went beyond the limit."""
        return [
            f"memory: {component} took {taken:.0f} MB, and grading gives it "
            f"{self._limits[component]} MB: there it would fail"
            for component, taken in self.over.items()
        ]
