"""Goal: a helper's module-level __getattr__ serves any name of torch.

At most: 0
Status: forbidden
"""

import torch
from torch import nn
from helper import layer_norm_of_torch as norm


def layer_norm(x, eps=1e-5):
    """Normalise the last dimension."""
    return norm(x, x.shape[-1:], None, None, eps)


class LayerNorm(nn.Module):
    """Layer norm with a learned scale and shift."""

    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
