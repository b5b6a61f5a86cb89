"""Shapes, places in a tensor and names of parameters, in words for the student."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autograder.api.answer import CheckFailed
from autograder.api.values import DIGITS, SHOWN_VALUES, show_numbers
from autograder.text import clean

Array = np.ndarray[Any, Any]

# Of a value that stands alone; and of one that is hardly wrong.
_ALONE, _MOST_DIGITS = 6, 9
_SHOWN_KEYS = 6


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


def worst_place(error: Array) -> tuple[int, ...]:
    """Find the place of the largest error."""
    return tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))


def first_place(wrong: Array) -> tuple[int, ...]:
    """Find the first place in reading order."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def place_words(at: tuple[int, ...], names: str) -> str:
    """Write " at [1, 2]", with the names of the dimensions if there are any."""
    named = tuple_of(names, len(at)).replace(",)", ")")
    return f" at {list(at)}" + (f" {named}" if named else "") if at else ""


def share_words(wrong: Array, word: str) -> str:
    """Say how many values are wrong."""
    count = int(wrong.sum())
    are = "is" if count == 1 else "are"
    return f"; {count} of {wrong.size} values {are} {word}" if wrong.size > 1 else ""


def both_shown(actual: Array, expected: Array, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the row of the worst place, or that alone."""
    digits = _digits(actual, expected, at)
    where, row = "", at
    if expected.size <= SHOWN_VALUES:
        row = ()
    elif expected.ndim > 1 and expected.shape[-1] <= SHOWN_VALUES:
        row = at[:-1]
        where = f"at [{', '.join([*map(str, row), ':'])}] "
    if row != at or not at:
        right, wrong = (show_numbers(x[row].tolist(), digits) for x in (expected, actual))
        return f"{where}expected {right}\n{where}returned {wrong}"
    digits = max(_ALONE, digits)
    right, wrong = f"{expected[at].item():.{digits}g}", f"{actual[at].item():.{digits}g}"
    return f"there: expected {right}, returned {wrong}"


def _digits(actual: Array, expected: Array, at: tuple[int, ...]) -> int:
    """Return how many digits are needed to tell both values of a place apart."""
    one, other = actual[at].item(), expected[at].item()
    for digits in range(DIGITS, _MOST_DIGITS):
        if f"{one:.{digits}g}" != f"{other:.{digits}g}":
            return digits
    return _MOST_DIGITS


def other_keys(
    actual: Sequence[str],
    expected: Sequence[str],
    what: str,
    learned: Collection[str] | None = None,
) -> None:
    """Expect exactly these names, in any order; `learned` are those of the parameters.

    Raises:
        CheckFailed: some are missing, or too many.
    """
    missing = [key for key in expected if key not in actual]
    extra = [key for key in actual if key not in expected]
    if missing or extra:
        facts = [f"missing {_listed(missing)}"] if missing else []
        facts += [f"{len(extra)} not asked for"] if extra else []
        # Their names are the student's, and could carry what a hidden check does not show.
        detail = f"not asked for: {_listed(extra)}" if extra else ""
        hint = key_hint(missing, actual, extra, learned)
        raise CheckFailed(f"{what}: {'; '.join(facts)}", detail=detail, hint=hint)


def _listed(keys: Sequence[str]) -> str:
    """List keys of a student's, few and harmless."""
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return ", ".join(clean(key, 80) for key in keys[:_SHOWN_KEYS]) + more


def key_hint(
    missing: Sequence[str],
    actual: Sequence[str],
    extra: Sequence[str],
    learned: Collection[str] | None,
) -> str:
    """Say what to do about keys that are missing or too many.

    Args:
        missing: those that should be there.
        actual: those that are.
        extra: those of them that should not be.
        learned: the names of the parameters, where they are known.
    """
    if missing:
        owner, _, part = missing[0].rpartition(".")
        if owner and any(key.startswith(f"{owner}.") for key in actual):
            layer = "; nn.Linear has one unless bias=False" if part == "bias" else ""
            return f"self.{owner} is there, and has no {part}{layer}"
        attribute = missing[0].partition(".")[0]
        made = "..." if owner else "nn.Parameter(...)"
        hint = f"{missing[0]} comes from self.{attribute} = {made} in __init__"
        return (
            hint
            if extra or owner
            else f"{hint}; a plain tensor makes no key, and a buffer is not learned"
        )
    if all(key.endswith(".bias") for key in extra):
        return "nn.Linear has no bias where it is told so: nn.Linear(..., bias=False)"
    if learned is None:
        return (
            "every nn.Parameter, layer and buffer adds to it, but for what is registered by "
            "register_buffer(..., persistent=False)"
        )
    if any(key in learned for key in extra):
        return "more is learned than was asked for: every nn.Parameter and every layer adds to it"
    return "what is not learned stays out of it by register_buffer(..., persistent=False)"
