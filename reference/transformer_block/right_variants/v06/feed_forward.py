"""Feed-forward layer as two convolutions of width 1; the memory in two halves."""

import torch
import torch.nn.functional as F
from torch import nn


def memory_lookup(x, keys, values):
    """Ask one half of the memory after the other."""
    halves = zip(keys.chunk(2), values.chunk(2), strict=True)
    return torch.stack([F.relu(F.linear(x, k)).matmul(v) for k, v in halves]).sum(0)


def pointwise(tokens, linear):
    """tokens (N, D, 1): a linear layer is a convolution that sees one position."""
    return F.conv1d(tokens, linear.weight.unsqueeze(-1), linear.bias)


class FeedForward(nn.Module):
    """Convolve, activate, drop, convolve."""

    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        if activation not in ("relu", "gelu"):
            raise ValueError(f"{activation} is not supported")
        self.activation = getattr(F, activation)
        self.linear1 = nn.Linear(d_model, d_ff, bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """(..., D) -> (..., D)."""
        tokens = x.reshape(-1, x.size(-1), 1)
        hidden = self.dropout(self.activation(pointwise(tokens, self.linear1)))
        return pointwise(hidden, self.linear2).reshape(x.shape)
