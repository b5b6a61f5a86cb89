"""The shape of a result, and the names of its dimensions, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence


def shape_pattern(got: Sequence[int], want: Sequence[int], names: str = "") -> str:
    """Say in one sentence how a shape differs from the right one, or nothing if that is unclear."""
    got, want = tuple(got), tuple(want)
    longer, shorter = max(got, want, key=len), min(got, want, key=len)
    spare = [i for i in range(len(longer)) if longer[:i] + longer[i + 1 :] == shorter]
    if len(got) == len(want):
        wrong = [i for i in range(len(want)) if got[i] != want[i]]
        if len(wrong) == 1 < len(want):
            at = wrong[0]
            return f"only {dimension(names, len(want), at)} is wrong: {got[at]}, not {want[at]}"
        if sorted(got) == sorted(want) and wrong == [len(want) - 2, len(want) - 1]:
            return "the last two dimensions are swapped"
        if sorted(got) == sorted(want):
            return "the dimensions are in another order"
    elif spare and longer == want:
        keep = "; keepdim=True keeps it, unsqueeze adds it" if want[spare[0]] == 1 else ""
        gone = " or ".join(dimension(names, len(want), at) for at in spare[:2])
        gone = "one dimension" if len(spare) > 2 else gone
        return f"{gone}, of size {want[spare[0]]}, is missing{keep}"
    elif spare:
        which = f": dimension {spare[0]}" if len(spare) == 1 else ""
        return f"one dimension of size {got[spare[0]]} is too many{which}"
    if math.prod(got) == math.prod(want) > 1:
        return "the number of values is right, but they are divided into other dimensions"
    return ""


def dimension(names: str, dims: int, at: int) -> str:
    """Name a dimension: "T (dimension 1)", or "dimension 1" where it has no name."""
    named = dimension_names(names, dims)
    return f"{named[at]} (dimension {at})" if named and named[at] else f"dimension {at}"


def dimension_names(names: str, dims: int) -> list[str]:
    """Split "B T D", or "... T D" where any may come before; empty if they do not fit."""
    parts = names.split()
    if "..." in parts:
        at = parts.index("...")
        parts[at : at + 1] = [""] * (dims - len(parts) + 1)
    return parts if len(parts) == dims else []


def tuple_of(names: str, dims: int) -> str:
    """Write "(B, T, D)"; nothing where there are no names, or they do not fit.

    They may not fit where a result is compared with another of the student's own.
    """
    if not any(dimension_names(names, dims)):
        return ""
    parts = names.split()
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
