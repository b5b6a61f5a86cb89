"""Feed-forward layer on functions with a backward of their own."""

import torch
from own_functions import Gelu, Relu, ReluLookup


def memory_lookup(x, keys, values):
    """Look x up."""
    return ReluLookup.apply(x, keys, values)


class FeedForward(torch.nn.Module):
    """Two linear layers around an activation and a dropout."""

    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        self.linear1 = torch.nn.Linear(d_model, d_ff, bias)
        self.linear2 = torch.nn.Linear(d_ff, d_model, bias)
        self.drop = torch.nn.Dropout(dropout)
        self.name = activation
        if activation not in ("relu", "gelu"):
            raise ValueError(f"cannot differentiate {activation}")

    def forward(self, x):
        """Expand and contract."""
        function = Gelu if self.name == "gelu" else Relu
        return self.linear2(self.drop(function.apply(self.linear1(x))))
