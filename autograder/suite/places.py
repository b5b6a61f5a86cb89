"""Where a result is wrong, and how much of it, in words."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.suite.patterns import dimension_names
from autograder.suite.showing import SHOWN_VALUES, show_tensor
from autograder.text import clean

_SHOWN_KEYS = 6


def worst_place(error: Tensor) -> tuple[int, ...]:
    """Find the place of the largest error."""
    flat = int(error.flatten().argmax())
    return tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), error.shape))


def first_place(wrong: Tensor) -> tuple[int, ...]:
    """Find the first place in reading order."""
    return tuple(int(i) for i in wrong.nonzero()[0])


def tuple_of(names: str, dims: int) -> str:
    """Write "(B, T, D)"; nothing where there are no names, or they do not fit.

    They may not fit where a result is compared with another of the student's own.
    """
    if not any(dimension_names(names, dims)):
        return ""
    parts = names.split()
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def place_words(at: tuple[int, ...], names: str) -> str:
    """Write " at [1, 2]", with the names of the dimensions if there are any."""
    named = tuple_of(names, len(at)).replace(",)", ")")
    return f" at {list(at)}" + (f" {named}" if named else "") if at else ""


def share_words(wrong: Tensor, word: str) -> str:
    """Say how many values are wrong."""
    count = int(wrong.sum())
    are = "is" if count == 1 else "are"
    return f"; {count} of {wrong.numel()} values {are} {word}" if wrong.numel() > 1 else ""


def listed_keys(keys: Sequence[str]) -> str:
    """List keys of a student's, few and harmless."""
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return ", ".join(clean(key, 80) for key in keys[:_SHOWN_KEYS]) + more


def both_shown(actual: Tensor, expected: Tensor, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the row of the worst place, or that alone."""
    if expected.numel() <= SHOWN_VALUES:
        return f"expected {show_tensor(expected)}\nreturned {show_tensor(actual)}"
    row = at[:-1]
    if expected.dim() > 1 and expected.size(-1) <= SHOWN_VALUES:
        where = ", ".join([*map(str, row), ":"])
        return (
            f"at [{where}] expected {show_tensor(expected[row])}\n"
            f"at [{where}] returned {show_tensor(actual[row])}"
        )
    return f"there: expected {expected[at].item():.6g}, returned {actual[at].item():.6g}"
