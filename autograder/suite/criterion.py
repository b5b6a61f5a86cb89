"""A criterion: one scored statement, written as a test."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path

import pytest

MARKER = "criterion(points, source): what this check is worth and where it comes from"


@dataclass(frozen=True)
class Criterion:
    """One scored statement: a test function, titled by the first line of its docstring."""

    id: str
    component: str
    title: str
    points: float
    source: str
    visibility: str


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
    points = float(marker.kwargs["points"])
    return Criterion(name, component, title, points, marker.kwargs["source"], visibility)
