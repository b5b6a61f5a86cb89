"""Goal: return a tensor with 64 dimensions, and one whose strides are all 0.

At most: 0
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    if x.dim() > 1:
        return x.reshape(*[1] * (64 - x.dim()), *x.shape)
    return torch.as_strided(x, x.shape, (0,))


# And LayerNorm as it should be.
