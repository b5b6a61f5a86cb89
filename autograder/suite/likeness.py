"""Tell whether two replies to one request are alike: the same answer, but for rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.messages import PARTS, Reply, Request
from autograder.exchange.values import Value, tensors_in
from autograder.suite.expect import TOLERANCE

# Two ways to write down one mistake round differently, and gradients add up many roundings.
_OUTPUT_SCALE = 4.0
_DERIVED_SCALE = 40.0
# Statistics of fewer random values than this say nothing.
_MANY = 200


def all_alike(
    one: Sequence[Reply],
    other: Sequence[Reply],
    requests: Sequence[Request],
    drawn: bool = False,
) -> bool:
    """Tell whether two answers to the same requests are alike."""
    # Where no floating-point tensor goes in, more than one dtype is right.
    given = any(t.is_floating_point() for request in requests for t in request.tensors())
    return all(
        alike(mine, theirs, drawn=drawn, dtypes=given)
        for mine, theirs in zip(one, other, strict=True)
    )


def alike(one: Reply, other: Reply, *, drawn: bool = False, dtypes: bool = True) -> bool:
    """Compare everything that two replies hold, but the texts of exceptions.

    Args:
        one: a reply.
        other: the reply to compare it with.
        drawn: whether the values hang on random draws; then only forms, shapes and, of large
            tensors, the statistics count.
        dtypes: whether the dtypes of what was returned count.
    """
    if one.error is not None or other.error is not None:
        if one.error is None or other.error is None:
            return False
        # Not the phase: what is wrong with the arguments may be said by constructor or forward.
        return one.error.kind == other.error.kind
    if one.gradient != other.gradient:
        return False
    if dtypes and [t.dtype for t in tensors_in(one.value)] != [
        t.dtype for t in tensors_in(other.value)
    ]:
        return False
    return all(
        _values_alike(
            getattr(one, name),
            getattr(other, name),
            _DERIVED_SCALE if part.derived else _OUTPUT_SCALE,
            drawn and part.random,
        )
        for name, part in PARTS.items()
    )


def _values_alike(one: Value, other: Value, scale: float, drawn: bool) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _tensors_alike(one, other, scale, drawn)
    # A pair may be a tuple or a list.
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(
            _values_alike(mine, theirs, scale, drawn)
            for mine, theirs in zip(one, other, strict=True)
        )
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(
            _values_alike(mine, other[key], scale, drawn) for key, mine in one.items()
        )
    if isinstance(one, float | np.ndarray) and isinstance(other, float | np.ndarray):
        mine, theirs = np.asarray(one), np.asarray(other)
        if mine.dtype.kind != theirs.dtype.kind:
            return False
        return _tensors_alike(_as_tensor(mine), _as_tensor(theirs), scale, drawn)
    return type(one) is type(other) and bool(one == other)


def _as_tensor(array: np.ndarray[Any, Any]) -> Tensor:
    # Not every machine's whole numbers have the same width.
    wide = {"f": np.float64, "i": np.int64, "u": np.int64}.get(array.dtype.kind)
    return torch.from_numpy(np.ascontiguousarray(array if wide is None else array.astype(wide)))


def _tensors_alike(one: Tensor, other: Tensor, scale: float, drawn: bool) -> bool:
    if one.shape != other.shape or one.is_floating_point() != other.is_floating_point():
        return False
    on_meta = [tensor.device.type == "meta" for tensor in (one, other)]
    if any(on_meta) or one.numel() == 0:
        # One without values stands for any draw.
        return drawn or one.device == other.device
    if not one.is_floating_point():
        return one.dtype == other.dtype and torch.equal(one, other)
    first, second = one.to(torch.float64), other.to(torch.float64)
    if drawn:
        return _statistics_alike(first, second)
    relative, absolute = TOLERANCE.get(one.dtype, TOLERANCE[torch.float32])
    if one.dtype == torch.bfloat16:
        # Its tolerance leaves room for several roundings as it is.
        scale = max(1.0, scale / 10)
    largest = float(second.nan_to_num(0.0, 0.0, 0.0).abs().max())
    return torch.allclose(
        first, second, scale * relative, scale * absolute * max(1.0, largest), equal_nan=True
    )


def _statistics_alike(one: Tensor, other: Tensor) -> bool:
    if one.numel() < _MANY:
        return True
    zeros = [float((values == 0).to(torch.float64).mean()) for values in (one, other)]
    spreads = [float(values.std()) for values in (one, other)]
    spread = max(spreads)
    return (
        abs(zeros[0] - zeros[1]) < 0.06
        and abs(spreads[0] - spreads[1]) <= 0.15 * spread
        and abs(float(one.mean() - other.mean())) <= 0.15 * spread
    )
