"""Compare values of any kind, part by part, and name the first place that is wrong."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.values import Value
from autograder.suite.answer import CheckFailed
from autograder.suite.numerals import comparable_arrays
from autograder.suite.showing import kind_words, show_value

# Compares two tensors: the student's, the right one, what it is.
Close = Callable[[Tensor, Tensor, str], None]

_SHOWN = 6
# What arrays of a kind are compared in.
_WIDE = {
    "i": np.int64,
    "u": np.int64,
    "b": np.bool_,
    "f": np.float64,
    "c": np.complex128,
}


def compare(value: Value, right: Value, what: str, close: Close, tolerance: float) -> None:
    """Expect a value to be the right one, numbers within a tolerance and all else exactly.

    A list and a tuple are one kind, and so is a numpy number and a plain one.

    Args:
        value: what came back.
        right: what is right.
        what: names the value, and with [3] or ["key"] behind it a part of it.
        close: compares tensors.
        tolerance: of plain numbers, relative and absolute.

    Raises:
        CheckFailed: it is another.
    """
    if isinstance(right, Tensor):
        _of_kind(value, right, what, isinstance(value, Tensor))
        close(value, right, what)
    elif isinstance(right, np.ndarray) and right.ndim:
        _arrays(value, right, what, close)
    elif isinstance(right, list | tuple) and not isinstance(right, torch.Size):
        fits = isinstance(value, list | tuple) and not isinstance(value, torch.Size)
        _of_kind(value, right, what, fits)
        _sequences(value, right, what, close, tolerance)
    elif isinstance(right, dict):
        _of_kind(value, right, what, isinstance(value, dict))
        _keys(value, right, what, "key")
        for key, item in right.items():
            compare(value[key], item, f"{what}[{key!r}]", close, tolerance)
    elif isinstance(right, set | frozenset):
        _of_kind(value, right, what, isinstance(value, set | frozenset))
        _keys(value, right, what, "element")
    else:
        _single(value, right, what, tolerance)


def _of_kind(value: Value, right: Value, what: str, fits: bool) -> None:
    if not fits:
        got, wanted = kind_words(value), kind_words(right)
        hint = ""
        if got == wanted and isinstance(right, int):
            # Both are numbers, and one of them can have a fraction.
            got, wanted = f"{show_value(value)}, a float", "a whole number (int)"
            hint = "/ always gives a float, and // a whole number of whole numbers"
        raise CheckFailed(f"{what} is {got}, expected {wanted}", hint=hint)


def _sequences(
    value: Sequence[Value], right: Sequence[Value], what: str, close: Close, tolerance: float
) -> None:
    if len(value) != len(right):
        detail = _shown(value, right)
        raise CheckFailed(f"{what} has length {len(value)}, expected {len(right)}", detail=detail)
    for index, (mine, theirs) in enumerate(zip(value, right, strict=True)):
        compare(mine, theirs, f"{what}[{index}]", close, tolerance)


def _keys(value: Any, right: Any, what: str, word: str) -> None:
    missing = [key for key in right if key not in value]
    extra = [key for key in value if key not in right]
    if missing or extra:
        parts = [f"{len(missing)} {word}(s) missing"] if missing else []
        parts += [f"{len(extra)} {word}(s) too many"] if extra else []
        lines = [
            f"{name}: {', '.join(show_value(key) for key in keys[:_SHOWN])}"
            for name, keys in (("missing", missing), ("too many", extra))
            if keys
        ]
        raise CheckFailed(f"{what} has {' and '.join(parts)}", detail="\n".join(lines))


def _arrays(value: Value, right: np.ndarray[Any, Any], what: str, close: Close) -> None:
    _of_kind(value, right, what, isinstance(value, np.ndarray))
    comparable_arrays(value.dtype, right.dtype, what)
    # Compared as tensors of one width are, whatever the machine's integers are. Never a narrower
    # one: what does not fit into it would be infinite there, and so equal.
    narrow = right.dtype == np.float16
    wide = _WIDE.get(right.dtype.kind)
    mine, theirs = (
        torch.from_numpy(
            np.ascontiguousarray(array if wide is None or narrow else array.astype(wide))
        )
        for array in (value, right)
    )
    close(mine, theirs.to(mine.dtype) if narrow else theirs, what)


def _single(value: Value, right: Value, what: str, tolerance: float) -> None:
    if isinstance(value, np.ndarray) and value.dtype == np.float16:
        # As a plain number it would be one of fewer digits than it seems.
        kind = right.dtype if isinstance(right, np.ndarray) else np.dtype(np.float64)
        comparable_arrays(value.dtype, kind, what)
    mine, theirs = _scalar(value), _scalar(right)
    numbers = int | float | complex
    if isinstance(theirs, numbers) and not isinstance(theirs, bool):
        fits = isinstance(mine, numbers) and not isinstance(mine, bool)
        # A whole number is right where any number is; where it is counted, only a whole one.
        fits = fits and not (isinstance(theirs, int) and not isinstance(mine, int))
        fits = fits and not (isinstance(mine, complex) and not isinstance(theirs, complex))
        _of_kind(value, right, what, fits)
        if not _near(mine, theirs, tolerance):
            off = _off_by(mine, theirs)
            detail = f"expected {theirs!r}\nreturned {mine!r}"
            raise CheckFailed(f"{what} is wrong{off}", detail=detail)
        return
    _of_kind(value, right, what, type(mine) is type(theirs))
    if mine != theirs:
        place = ""
        if isinstance(theirs, str | bytes):
            at = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), -1)
            place = f", first at {at}" if at >= 0 else ", one is the beginning of the other"
        raise CheckFailed(f"{what} is wrong{place}", detail=_shown(value, right))


def _scalar(value: Value) -> Value:
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _off_by(mine: Any, right: Any) -> str:
    try:
        return f"; off by {abs(mine - right):.3g}"
    except OverflowError:
        return ""


def _near(mine: Any, right: Any, tolerance: float) -> bool:
    if mine == right:
        return True
    if isinstance(right, int):
        return False
    try:
        got, want = complex(mine), complex(right)
    except OverflowError:
        return False
    size = abs(want) if cmath.isfinite(want) else 0.0
    for one, other in ((got.real, want.real), (got.imag, want.imag)):
        if math.isnan(one) and math.isnan(other):
            continue
        if math.isinf(other) or not math.isfinite(one):
            if one != other:
                return False
        elif not abs(one - other) <= tolerance * (1 + size):
            return False
    return True


def _shown(value: Value, right: Value) -> str:
    return f"expected {show_value(right)}\nreturned {show_value(value)}"
