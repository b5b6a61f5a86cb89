"""Failed checks of a whole run in few lines: each component's first ones, and how many more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Of all lines that are shown, and at least this many of a component.
_LINES, _LEAST = 46, 6
MORE = "pytest -v shows every failed check in full"


def condensed(failures: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    """Return the lines to be shown of failed checks.

    Args:
        failures: the lines of every failed check, by component, in order.
    """
    shown: list[str] = []
    share = max(_LEAST, _LINES // max(1, len(failures)))
    for component, checks in failures.items():
        left = share - 2
        whole = 0
        lines: list[str] = []
        for check in checks:
            if whole and len(check) > left:
                break
            kept = list(check[: max(left, 1)])
            if len(kept) < len(check):
                kept[-1] += " ..."
            lines += kept
            left -= len(kept)
            whole += 1
            if left < 1:
                break
        more = len(checks) - whole
        shown.append(f"--- {component}: {_count(len(checks), 'check')} failed ---")
        shown += lines
        if more:
            shown.append(f"({more} more: pytest -v tests/test_{component}.py)")
    return shown


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
