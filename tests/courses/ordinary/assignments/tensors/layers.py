"""Layers of a small network, and the loss that it is trained with."""

import torch
from torch import Tensor, nn


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)), exact for large numbers, too, and with gradients."""
    # Your code here.
    raise NotImplementedError


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over N of -log softmax(logits)[label], for logits (N, C) and labels (N,)."""
    # Your code here.
    raise NotImplementedError


class Affine(nn.Module):
    """x becomes x · weightᵀ + bias.

    Parameters:
        weight: (outputs, inputs), drawn from a normal distribution.
        bias: (outputs,), zeros.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        """Make the parameters."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., inputs) to (..., outputs)."""
        # Your code here.
        raise NotImplementedError


class Network(nn.Module):
    """`first` (Affine), softplus, dropout, and `second` (Affine)."""

    def __init__(self, inputs: int, hidden: int, outputs: int, dropout: float = 0.0) -> None:
        """Make both layers."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., inputs) to (..., outputs)."""
        # Your code here.
        raise NotImplementedError


@torch.no_grad()
def step(parameters: list[Tensor], rate: float) -> None:
    """Take `rate` times its gradient from each parameter that has one, and clear the gradients."""
    # Your code here.
    raise NotImplementedError
