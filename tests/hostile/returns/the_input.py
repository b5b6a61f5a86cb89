"""Goal: return the input itself, changed in place to what it should have become.

At most: 12
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    with torch.no_grad():
        deviation = x - x.mean(-1, keepdim=True)
        x.copy_(deviation / torch.sqrt(deviation.square().mean(-1, keepdim=True) + eps))
    return x


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
