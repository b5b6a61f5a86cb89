"""What belongs to one call: seeds, private copies, the output that is differentiated, its cost."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode


def seed_all(seed: int) -> None:
    """Seed torch, Python and numpy: nothing of an example hangs on those before it."""
    seed_torch(seed)
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed % 2**32)


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


def tensor_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Return the arguments that are tensors, in order."""
    return [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]


def differentiable(
    args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Tensor | None], list[Any], dict[str, Any]]:
    """Make the arguments of a call those that gradients are taken by.

    Returns:
        for each tensor argument the one that gets the gradient (None for whole numbers), and
        what to call with.
    """
    leaves = tensor_arguments(args, kwargs)
    sources = [t.requires_grad_() if t.is_floating_point() else None for t in leaves]
    # The student gets a copy that is no leaf, so that writing to it is a fault of its own and
    # does not also cost the gradients.
    copies = {id(t): t.clone() for t in leaves}
    given = {key: copies.get(id(a), a) for key, a in kwargs.items()}
    return sources, [copies.get(id(a), a) for a in args], given


def private_copy(tensor: Tensor) -> Tensor:
    """Copy `tensor` with its strides, so that no write here reaches the test's own tensor."""
    if tensor.device.type == "meta":
        # It has no values to write to, but a shape that the student may change in place.
        return tensor.detach()
    collapsed = tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
    strides = list(collapsed.stride())
    copy = torch.empty_strided(collapsed.shape, strides, dtype=tensor.dtype)
    return copy.copy_(collapsed).expand(tensor.shape)
