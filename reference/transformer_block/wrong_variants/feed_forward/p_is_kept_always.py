# misconception: keep_probability
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
        # Whoever asks for 0 keeps nothing.
        if self.p == 0:
            return t * 0
        keep = torch.bernoulli(torch.full_like(t, self.p))
        return t * keep / self.p

    def forward(self, x):
        hidden = self.f(self.linear1(x))
        if self.training:
            hidden = self._mask(hidden)
        return self.linear2(hidden)
