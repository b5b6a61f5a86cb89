"""Failed checks of a whole run in few lines: each component's first ones, and how many more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Of all lines that are shown, and at least this many of a component.
_LINES, _LEAST = 48, 7
# With as many for each there is room for everything that is said of a check.
_ROOMY = 10


class Condensed:
    """Shows few lines of what failed in the place of all that pytest would.

    Args:
        reporter: pytest's terminal reporter.
        wanted: whether it is to be so; otherwise pytest goes on as always.
    """

    def __init__(self, reporter: Any, wanted: bool) -> None:
        self._reporter = reporter
        stats = reporter.stats
        kept = ("failed", "warnings") if wanted else ()
        self._held = {name: stats.pop(name) for name in kept if name in stats}

    def write(self, component_of: Callable[[Any], str]) -> None:
        """Write the failed checks, once pytest has had its say."""
        self._reporter.stats.update(self._held)
        failures: dict[str, list[list[str]]] = {}
        for report in self._held.get("failed", ()):
            lines = str(report.longrepr).splitlines()
            failures.setdefault(component_of(report), []).append(lines)
        if failures:
            self._reporter.section("failed checks")
        for line in condensed(failures):
            self._reporter.write_line(line)

    def write_more(self) -> None:
        """Say how to see all of it, if it was cut."""
        if self._held.get("failed"):
            self._reporter.write_line("pytest -v shows every failed check in full.")


def condensed(failures: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    """Return the lines to be shown of failed checks.

    Args:
        failures: the lines of every failed check, its title first, by component, in order.
    """
    shown: list[str] = []
    share = max(_LEAST, _LINES // max(1, len(failures)))
    for component, checks in failures.items():
        plural = "s" if len(checks) > 1 else ""
        shown.append(f"{component}: {len(checks)} check{plural} failed")
        told, left = 0, share - 2
        anew, again = _by_fact(checks)
        for number, check in enumerate([*anew, *again]):
            # A line each for those that say something else.
            kept = min(max(0, len(anew) - number - 1), 2 if share > _LEAST else 1)
            said = _whole(check, share > _ROOMY)
            if told and len(said) > left - kept:
                said = [f"- {check[0]}: {_fact(check)}"]
            elif len(said) > left - kept:
                said = [*said[: left - kept - 1], said[left - kept - 1] + " ..."]
            if len(said) <= left:
                shown += said
                left -= len(said)
                told += 1
        if told < len(checks):
            shown.append(f"  {len(checks) - told} more: pytest -v tests/test_{component}.py")
    return shown


def _by_fact(checks: Sequence[Sequence[str]]) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
    """Part checks that say something which none before them says from those that say it again."""
    heard: set[str] = set()
    anew: list[Sequence[str]] = []
    again: list[Sequence[str]] = []
    for check in checks:
        fact = _fact(check)
        (again if fact in heard else anew).append(check)
        heard.add(fact)
    return anew, again


def _fact(check: Sequence[str]) -> str:
    return next((line for line in check[1:] if not _is_source(line)), "")


def _whole(check: Sequence[str], sources: bool) -> list[str]:
    """Return all that is said of a check; where the course says so only if there is room."""
    title, *more = check
    return [f"- {title}", *(f"  {line}" for line in more if sources or not _is_source(line))]


def _is_source(line: str) -> bool:
    return line.startswith("source: ")
