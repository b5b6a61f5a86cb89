"""Failed checks of a whole run in a few lines: the first of each component, and how many more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Lines that are shown of all components, and at least of each.
_LINES, _LEAST = 48, 7
# With more lines than these for a component, there is room for where the course treats a check.
_ROOMY = 10


class Condensed:
    """Shows a few lines of the failed checks instead of pytest's report, if that is wanted.

    Args:
        reporter: pytest's terminal reporter.
        wanted: whether to condense; otherwise pytest reports as always.
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
        shown.append(f"{component}: {len(checks)} check{'s' * (len(checks) > 1)} failed")
        told, left = 0, share - 2
        # Each new message comes before those that repeat one.
        facts = [_fact(check) for check in checks]
        order = sorted(range(len(checks)), key=lambda n: facts[n] in facts[:n])
        new = len(set(facts))
        for place, check in enumerate(checks[n] for n in order):
            # So many lines are kept free for new messages that follow: one for each of two.
            kept = min(max(0, new - place - 1), 2 if share > _LEAST else 1)
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


def _fact(check: Sequence[str]) -> str:
    return next((line for line in check[1:] if not _is_source(line)), "")


def _whole(check: Sequence[str], sources: bool) -> list[str]:
    """Return all lines of a check; its source in the course only if there is room."""
    title, *more = check
    return [f"- {title}", *(f"  {line}" for line in more if sources or not _is_source(line))]


def _is_source(line: str) -> bool:
    return line.startswith("source: ")
