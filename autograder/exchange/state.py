"""What a module holds: its state is written entry by entry, moved, and read with its gradients."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from autograder.exchange.exceptions import Stop
from autograder.exchange.messages import StudentError
from autograder.exchange.values import DTYPES, plain_tensor


def load_state(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Write tensors into the entries of a module's state_dict.

    Raises:
        Stop: an entry is not there, or has another shape.
    """
    with torch.no_grad():
        own = nn.Module.state_dict(module)
        for key, tensor in state.items():
            if key not in own:
                raise Stop(StudentError("StateKeys", "load", key=key, found=tuple(own)))
            if own[key].shape != tensor.shape:
                shape, wanted = tuple(own[key].shape), tuple(tensor.shape)
                error = StudentError("StateShape", "load", key=key, shape=shape, wanted=wanted)
                raise Stop(error)
            own[key].copy_(tensor)


def move(module: nn.Module, dtype: str | None, device: str | None) -> None:
    """Move a module to a dtype (by name), a device, or both."""
    if dtype is not None:
        module.to(DTYPES[dtype])
    if device is not None:
        module.to(device)


def read_state(module: nn.Module) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return a module's state_dict and its parameters."""
    state = {key: plain_tensor(value) for key, value in module.state_dict().items()}
    return state, {key: plain_tensor(value) for key, value in module.named_parameters()}


def parameter_gradients(module: nn.Module) -> dict[str, Tensor | None]:
    """Return the gradient of every parameter; None where backward left none."""
    return {
        key: None if p.grad is None else plain_tensor(p.grad)
        for key, p in module.named_parameters()
    }
