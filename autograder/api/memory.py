"""The memory that components take in the student's own run, where the system tells it."""

from __future__ import annotations

import sys


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
        limit_mb: what it gives; 0 if that is not known.

    Attributes:
        over: how much more each of them has taken than the libraries, in MB.
    """

    def __init__(self, limit_mb: int) -> None:
        self._limit_mb = limit_mb
        self._libraries: float | None = None
        self.over: dict[str, float] = {}

    def begin(self) -> None:
        """Note what is there before the first component: it is the libraries'."""
        self._libraries = peak_mb()

    def look(self, component: str) -> None:
        """See whether a component has just had more; a peak is told of the first that has it."""
        peak = peak_mb()
        if peak is None or self._libraries is None or not self._limit_mb:
            return
        taken = peak - self._libraries
        if taken > max(self._limit_mb, *self.over.values(), 0.0):
            self.over[component] = taken

    def header(self) -> list[str]:
        """Say what the limit is."""
        if not self._limit_mb:
            return []
        given = f"{self._limit_mb} MB of memory on top of the libraries"
        return [f"grading gives each component {given}, and starts no processes"]

    def lines(self) -> list[str]:
        """Say which components went beyond the limit."""
        return [
            f"memory: {component} took {taken:.0f} MB, and grading gives it {self._limit_mb} MB: "
            "there it would fail"
            for component, taken in self.over.items()
        ]
