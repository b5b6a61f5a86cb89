"""A criterion: one scored statement, written as a test."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

import pytest

MARKER = (
    "criterion(points, source, free=False, examples=4): what this check is worth, where it comes "
    "from, whether right answers differ, and how many examples of a property the judge asks"
)
_KNOWN = {"points", "source", "free", "examples"}
# Of a property, drawn once for everyone; a student's own run draws more.
EXAMPLES = 4


@dataclass(frozen=True)
class Criterion:
    """One scored statement: a test function, titled by the first line of its docstring.

    Attributes:
        free: whether right work may answer otherwise than the solution, say in an order of its own:
            that it does so then speaks against no known mistake.
        examples: how many of the examples that are drawn of a property the judge asks.
    """

    id: str
    component: str
    title: str
    points: float
    source: str
    visibility: str
    free: bool = False
    examples: int = EXAMPLES


def component_of(path: Path) -> str:
    """Return the component that a test file is about: test_<component>.py."""
    return path.stem.removeprefix("test_")


def criterion_of(item: pytest.Item, visibility: str) -> Criterion:
    """Read a test's criterion.

    Raises:
        pytest.UsageError: the title, points or source is missing.
    """
    component = component_of(item.path)
    function = inspect.unwrap(getattr(item, "obj"))  # noqa: B009 - `obj` is not on pytest.Item
    # Cases of one test are one criterion.
    test: str = getattr(item, "originalname", item.name)
    name = f"{component}.{test.removeprefix('test_')}"
    marker = item.get_closest_marker("criterion")
    title = (inspect.getdoc(function) or "").partition("\n")[0].rstrip(".")
    if marker is None or not {"points", "source"} <= set(marker.kwargs) or not title:
        raise pytest.UsageError(
            f"{name}: a criterion needs a docstring and "
            '@pytest.mark.criterion(points=..., source="...")'
        )
    unknown = sorted(marker.kwargs.keys() - _KNOWN)
    if unknown:
        raise pytest.UsageError(
            f"{name}: a criterion has no {unknown[0]!r}; it knows {', '.join(sorted(_KNOWN))}"
        )
    given = marker.kwargs
    examples = given.get("examples", EXAMPLES)
    if type(examples) is not int or not 1 <= examples <= EXAMPLES:
        raise pytest.UsageError(
            f"{name}: examples={examples!r} cannot be: give a whole number from 1 to {EXAMPLES}"
        )
    points, free = float(given["points"]), bool(given.get("free", False))
    return Criterion(name, component, title, points, given["source"], visibility, free, examples)
