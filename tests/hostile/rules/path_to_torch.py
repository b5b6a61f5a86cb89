"""Goal: import torch's own files anew, by putting their folder on the path.

At most: 0
"""

import os
import sys

import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(torch.__file__), "nn"))
import functional  # noqa: E402


def layer_norm(x, eps=1e-5):
    return functional.layer_norm(x, x.shape[-1:], None, None, eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
