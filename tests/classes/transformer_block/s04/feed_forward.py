from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def relu(x: Tensor) -> Tensor:
    return torch.clamp(x, min=0)


def gelu(x: Tensor) -> Tensor:
    """x * Phi(x), with the error function (not the tanh approximation)."""
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    coefficients = relu(torch.matmul(x, keys.transpose(0, 1)))
    return torch.matmul(coefficients, values)


class FeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.1,
                 activation: str = "relu", bias: bool = True) -> None:
        super().__init__()
        match activation:
            case "relu":
                self.activation = relu
            case "gelu":
                self.activation = gelu
            case _:
                raise ValueError(f"unknown activation: {activation}")
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.activation(self.linear1(x))
        hidden = self.dropout(hidden)
        return self.linear2(hidden)
