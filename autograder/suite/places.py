"""Where a result is wrong, and how much of it, in words."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from autograder.suite.shapes import tuple_of
from autograder.suite.showing import DIGITS, SHOWN_VALUES, show_tensor

# Of a value that stands alone; and of one that is hardly wrong.
_ALONE, _MOST_DIGITS = 6, 9


def worst_place(error: Tensor) -> tuple[int, ...]:
    """Find the place of the largest error."""
    # Not torch's own: its first call imports half a second of symbolic algebra.
    return tuple(int(i) for i in np.unravel_index(int(error.flatten().argmax()), error.shape))


def first_place(wrong: Tensor) -> tuple[int, ...]:
    """Find the first place in reading order."""
    return tuple(int(i) for i in wrong.nonzero()[0])


def place_words(at: tuple[int, ...], names: str) -> str:
    """Write " at [1, 2]", with the names of the dimensions if there are any."""
    named = tuple_of(names, len(at)).replace(",)", ")")
    return f" at {list(at)}" + (f" {named}" if named else "") if at else ""


def share_words(wrong: Tensor, word: str) -> str:
    """Say how many values are wrong."""
    count = int(wrong.sum())
    are = "is" if count == 1 else "are"
    return f"; {count} of {wrong.numel()} values {are} {word}" if wrong.numel() > 1 else ""


def both_shown(actual: Tensor, expected: Tensor, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the row of the worst place, or that alone."""
    digits = _digits(actual, expected, at)
    if expected.numel() <= SHOWN_VALUES:
        return f"expected {show_tensor(expected, digits)}\nreturned {show_tensor(actual, digits)}"
    row = at[:-1]
    if expected.dim() > 1 and expected.size(-1) <= SHOWN_VALUES:
        where = ", ".join([*map(str, row), ":"])
        return (
            f"at [{where}] expected {show_tensor(expected[row], digits)}\n"
            f"at [{where}] returned {show_tensor(actual[row], digits)}"
        )
    digits = max(_ALONE, digits)
    right, wrong = f"{expected[at].item():.{digits}g}", f"{actual[at].item():.{digits}g}"
    return f"there: expected {right}, returned {wrong}"


def _digits(actual: Tensor, expected: Tensor, at: tuple[int, ...]) -> int:
    """Return how many digits are needed to tell both values of a place apart."""
    one, other = actual[at].item(), expected[at].item()
    for digits in range(DIGITS, _MOST_DIGITS):
        if f"{one:.{digits}g}" != f"{other:.{digits}g}":
            return digits
    return _MOST_DIGITS
