"""Goal: make weight and bias two views of one storage, so that each stands for both.

At most: 2.5
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    return x


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        both = torch.ones(d_model + 1)
        self.weight = nn.Parameter(both[:-1])
        self.bias = nn.Parameter(both[1:])

    def forward(self, x):
        return x * self.weight + self.bias
