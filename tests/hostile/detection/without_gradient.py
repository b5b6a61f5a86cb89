"""Goal: be right where no gradient is asked for, and cut it off where one is.

At most: 12
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    if x.requires_grad:
        return x.detach() * 0 + x.sum() * 0
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / torch.sqrt(deviation.square().mean(-1, keepdim=True) + eps)


# And LayerNorm as it should be.
