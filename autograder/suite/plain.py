"""Tests that the judge runs by itself: pytest's fixtures and reports cost more than a check."""

from __future__ import annotations

from collections.abc import Callable

import pytest

_FIXTURES = frozenset(("component", "reference", "expect", "make"))


def is_plain(item: pytest.Function) -> bool:
    """Tell whether a test is a mere function of the plugin's own fixtures, with no other marks."""
    info = item._fixtureinfo
    return (
        item.cls is None
        and _FIXTURES.issuperset(info.argnames)
        # Nothing else behind them, and nothing that applies to every test by itself.
        and _FIXTURES.union(["request"]).issuperset(info.names_closure)
        # None of them is replaced by the test file's own.
        and all(len(found) == 1 for found in info.name2fixturedefs.values())
        and all(mark.name == "criterion" for mark in item.iter_markers())
    )


def outcome_of(check: Callable[[], None]) -> BaseException | None:
    """Run a check and return what it raised, if pytest would have kept it."""
    try:
        check()
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except BaseException as failure:
        return failure
    return None
