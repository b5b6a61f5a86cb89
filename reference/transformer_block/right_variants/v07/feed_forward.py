"""Feed-forward layer; composition of functions."""

from functools import reduce

from torch import nn
from torch.nn import functional as F


def compose(*functions):
    """Return the function that applies these from left to right."""

    def composed(value):
        return reduce(lambda result, function: function(result), functions, value)

    return composed


def memory_lookup(x, keys, values):
    """Look x up in the memory."""

    def match(t):
        return F.linear(t, keys)

    def fire(t):
        return t.clamp(min=0)

    def recall(t):
        return t.matmul(values)

    return compose(match, fire, recall)(x)


class FeedForward(nn.Module):
    """Expand, activate, drop, contract."""

    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        if activation == "relu":

            def activate(t):
                return t.relu()

        elif activation == "gelu":

            def activate(t):
                return F.gelu(t, approximate="none")

        else:
            raise ValueError(f"no such activation: {activation}")

        def drop(t):
            return F.dropout(t, p=dropout, training=self.training)

        self.linear1 = nn.Linear(d_model, d_ff, bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias)
        self.run = compose(self.linear1, activate, drop, self.linear2)

    def forward(self, x):
        """Run the chain."""
        return self.run(x)
