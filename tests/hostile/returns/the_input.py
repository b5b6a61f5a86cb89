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


# And LayerNorm as it should be.
