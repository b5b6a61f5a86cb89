"""Feed-forward: a chain of four functions."""

from functools import partial

import torch
from fn import compose, pick
from torch import nn

ACTIVATIONS = {
    "relu": lambda h: h * (h > 0),
    "gelu": partial(nn.functional.gelu, approximate="none"),
}


def memory_lookup(x, keys, values):
    """relu(x K^T) V."""
    return torch.relu(x @ keys.mT) @ values


class FeedForward(nn.Module):
    """linear1, activation, dropout, linear2."""

    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff, bias), nn.Linear(d_ff, d_model, bias)
        self.act, self.drop = pick(ACTIVATIONS, activation), nn.Dropout(dropout)

    def forward(self, x):
        """Run the chain."""
        return compose(self.linear1, self.act, self.drop, self.linear2)(x)
