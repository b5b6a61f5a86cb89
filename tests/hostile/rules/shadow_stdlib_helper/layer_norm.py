"""Goal: an own file that is called like a module of Python's does the work.

At most: 0
Status: forbidden
"""

import torch
from torch import nn
from colorsys import rgb_to_hsv as norm


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
