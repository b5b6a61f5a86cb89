"""What belongs to one call: seeds, private copies, the output that is differentiated, its cost."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode


def seed_torch(seed: int) -> None:
    """Seed torch's generator."""
    # Not torch.manual_seed: for machines without a GPU that formats a traceback for each kind of
    # GPU there is, at more than the cost of the call being graded.
    torch.default_generator.manual_seed(seed)


class OperationCounter:
    """Counts floating-point operations by torch's own counter.

    Attributes:
        counted: how many there were, once it is done.
    """

    def __init__(self) -> None:
        self._mode: Any = FlopCounterMode(display=False)
        self.counted = 0

    def __enter__(self) -> None:
        self._mode.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._mode.__exit__(*error)
        self.counted = self._mode.get_total_flops()


def first_output(result: object) -> Tensor | None:
    """Return what gradients are taken of: the tensor returned, or the first of a pair of them."""
    if isinstance(result, Tensor):
        return result
    if isinstance(result, tuple | list) and len(result) == 2:
        first, second = result
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            return first
    return None


def private_copy(tensor: Tensor) -> Tensor:
    """Copy `tensor` with its strides, so that no write here reaches the test's own tensor."""
    if tensor.device.type == "meta":
        # It has no values to write to, but a shape that the student may change in place.
        return tensor.detach()
    collapsed = tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
    strides = list(collapsed.stride())
    copy = torch.empty_strided(collapsed.shape, strides, dtype=tensor.dtype)
    return copy.copy_(collapsed).expand(tensor.shape)
