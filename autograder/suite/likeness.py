"""Tell whether two replies to one request are alike: the same answer, but for rounding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.exchange.messages import Reply
from autograder.suite.expect import TOLERANCE

# Two ways to write down one mistake round differently, and gradients add up many roundings.
_OUTPUT_SCALE = 4.0
_GRADIENT_SCALE = 40.0
# Statistics of fewer random values than this say nothing.
_MANY = 200


def alike(one: Reply, other: Reply, *, drawn: bool = False, dtypes: bool = True) -> bool:
    """Compare everything that two replies hold, but the texts of exceptions.

    Args:
        one: a reply.
        other: the reply to compare it with.
        drawn: whether the values hang on random draws; then only forms, shapes and, of large
            tensors, the statistics count.
        dtypes: whether the outputs' dtypes count.
    """
    if one.error is not None or other.error is not None:
        if one.error is None or other.error is None:
            return False
        # Not the phase: what is wrong with the arguments may be said by constructor or forward.
        return one.error.kind == other.error.kind
    if one.form != other.form or one.gradient != other.gradient:
        return False
    return (
        (not dtypes or [t.dtype for t in one.outputs] == [t.dtype for t in other.outputs])
        and _all_alike(one.outputs, other.outputs, _OUTPUT_SCALE, drawn)
        and _all_alike(one.inputs_after, other.inputs_after, _OUTPUT_SCALE, False)
        and _named_alike(one.state, other.state, _OUTPUT_SCALE, drawn)
        and _named_alike(one.parameters, other.parameters, _OUTPUT_SCALE, drawn)
        and _tensor_alike(one.given, other.given, _OUTPUT_SCALE, False)
        and _all_alike(one.input_gradients, other.input_gradients, _GRADIENT_SCALE, drawn)
        and _named_alike(one.parameter_gradients, other.parameter_gradients, _GRADIENT_SCALE, drawn)
        and _tensor_alike(one.given_gradient, other.given_gradient, _GRADIENT_SCALE, drawn)
    )


def _all_alike(
    one: Sequence[Tensor | None], other: Sequence[Tensor | None], scale: float, drawn: bool
) -> bool:
    if len(one) != len(other):
        return False
    return all(_tensor_alike(a, b, scale, drawn) for a, b in zip(one, other, strict=True))


def _named_alike(
    one: Mapping[str, Tensor | None], other: Mapping[str, Tensor | None], scale: float, drawn: bool
) -> bool:
    if one.keys() != other.keys():
        return False
    return all(_tensor_alike(value, other[key], scale, drawn) for key, value in one.items())


def _tensor_alike(one: Tensor | None, other: Tensor | None, scale: float, drawn: bool) -> bool:
    if one is None or other is None:
        return one is other
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
