"""Goal: a layer of a forbidden class that a library makes and calls.

What a library makes and calls is its own affair, and here it does both. An author who forbids the
class forbids those that are made of it as well, as the assignments do; or the operation, which a
kernel refuses by every route.

At most: 14
"""

import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(x, eps=1e-5):
    return nn.Sequential(nn.TransformerEncoderLayer(x.shape[-1], 1, 1, layer_norm_eps=eps, dtype=x.dtype).norm1)(x)


# And LayerNorm as it should be.
