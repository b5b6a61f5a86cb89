"""A criterion: one scored statement, written as a test."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.text import did_you_mean

MARKER = (
    "criterion(points, source, form=False, free=False, examples=4): what this check is worth, "
    "where it comes from, whether it asks for form alone, whether right answers differ, and how "
    "many examples of a property the judge asks"
)
_KNOWN = {"points", "source", "form", "free", "examples"}
# Of a property, drawn once for everyone; a student's own run draws more.
EXAMPLES = 4
# Said of a form criterion that holds where none of the others does.
COUNTS_LATER = (
    "this holds, but it asks for form alone (names, shapes, errors, devices): it counts once "
    "another check of this component holds, at least in part"
)


@dataclass(frozen=True)
class Criterion:
    """One scored statement: a test function, titled by the first line of its docstring.

    Attributes:
        form: whether it asks for names, shapes, errors or devices, which work without any content
            may have: it counts once another criterion of its component holds, at least in part.
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
    form: bool = False
    free: bool = False
    examples: int = EXAMPLES


def form_counts(shares: Iterable[tuple[Criterion, float]]) -> bool:
    """Return whether form criteria count: another one of the component holds, at least in part.

    Args:
        shares: every criterion of the component, and the share of it that holds, from 0 to 1.
    """
    return any(share > 0 for criterion, share in shares if not criterion.form)


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
    if marker is None:
        raise pytest.UsageError(
            f'{name}: @pytest.mark.criterion(points=..., source="...") is missing above the test'
        )
    given = marker.kwargs
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        meant = did_you_mean(unknown[0], _KNOWN) or f"it knows {', '.join(sorted(_KNOWN))}"
        raise pytest.UsageError(f"{name}: a criterion has no {unknown[0]!r}; {meant}")
    for key in ("points", "source"):
        if key not in given:
            raise pytest.UsageError(f"{name}: its criterion(...) has no {key}=...")
    if not title:
        raise pytest.UsageError(f"{name}: it has no docstring, whose first line is its title")
    points = given["points"]
    if type(points) not in (int, float) or not 0 < points < math.inf:
        raise pytest.UsageError(f"{name}: points={points!r} cannot be: give a number above 0")
    examples = given.get("examples", EXAMPLES)
    if type(examples) is not int or not 1 <= examples <= EXAMPLES:
        raise pytest.UsageError(
            f"{name}: examples={examples!r} cannot be: give a whole number from 1 to {EXAMPLES}"
        )
    form, free = (bool(given.get(name, False)) for name in ("form", "free"))
    source = given["source"]
    return Criterion(
        name, component, title, float(points), source, visibility, form, free, examples
    )
