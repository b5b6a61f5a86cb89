"""Layers of a small network, and the loss that it is trained with."""

import torch
from torch import Tensor, nn


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)), exact for large numbers, too, and with gradients."""
    ### BEGIN SOLUTION
    return torch.logaddexp(x, torch.zeros_like(x))
    ### END SOLUTION


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean over N of -log softmax(logits)[label], for logits (N, C) and labels (N,)."""
    ### BEGIN SOLUTION
    logs = logits - logits.logsumexp(dim=-1, keepdim=True)
    return -logs[torch.arange(len(labels)), labels].mean()
    ### END SOLUTION


class Affine(nn.Module):
    """x becomes x · weightᵀ + bias.

    Parameters:
        weight: (outputs, inputs), drawn from a normal distribution.
        bias: (outputs,), zeros.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        """Make the parameters."""
        super().__init__()
        ### BEGIN SOLUTION
        self.weight = nn.Parameter(torch.randn(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., inputs) to (..., outputs)."""
        ### BEGIN SOLUTION
        return x @ self.weight.T + self.bias
        ### END SOLUTION


class Network(nn.Module):
    """`first` (Affine), softplus, dropout, and `second` (Affine)."""

    def __init__(self, inputs: int, hidden: int, outputs: int, dropout: float = 0.0) -> None:
        """Make both layers."""
        super().__init__()
        ### BEGIN SOLUTION
        self.first = Affine(inputs, hidden)
        self.second = Affine(hidden, outputs)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Map x (..., inputs) to (..., outputs)."""
        ### BEGIN SOLUTION
        return self.second(self.dropout(softplus(self.first(x))))
        ### END SOLUTION


@torch.no_grad()
def step(parameters: list[Tensor], rate: float) -> None:
    """Take `rate` times its gradient from each parameter that has one, and clear the gradients."""
    ### BEGIN SOLUTION
    for parameter in parameters:
        if parameter.grad is not None:
            parameter -= rate * parameter.grad
            parameter.grad = None
    ### END SOLUTION
