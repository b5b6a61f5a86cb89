"""Layer normalisation: fn.z_score with a weight and a bias."""

from functools import partial

import torch
from fn import z_score
from torch import nn


def layer_norm(x, eps=1e-5):
    """Z-score of the last dimension."""
    return z_score(x, eps)


class LayerNorm(nn.Module):
    """Learned version."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias = (nn.Parameter(f(d_model)) for f in (torch.ones, torch.zeros))
        self.z = partial(layer_norm, eps=eps)

    def forward(self, x):
        """Normalise, scale, shift."""
        return self.z(x) * self.weight + self.bias
