import math

import torch
from torch import nn


def memory_lookup(x, keys, values):
    match = torch.einsum("...d,fd->...f", x, keys)
    return torch.einsum("...f,fv->...v", match.clamp(min=0), values)


def _exact_gelu(t):
    return 0.5 * t * (1 + torch.erf(t / math.sqrt(2)))


ACTIVATIONS = {"relu": lambda t: t.clamp(min=0), "gelu": _exact_gelu}


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(activation)
        self.f = ACTIVATIONS[activation]
        self.linear1 = nn.Linear(d_model, d_ff, bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias)
        self.p = dropout

    def _mask(self, t):
        keep = torch.bernoulli(torch.full_like(t, 1 - self.p))
        return t * keep / (1 - self.p)

    def forward(self, x):
        hidden = self.f(self.linear1(x))
        if self.training and self.p > 0:
            hidden = self._mask(hidden)
        return self.linear2(hidden)
