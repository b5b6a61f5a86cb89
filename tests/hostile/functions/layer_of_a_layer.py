"""Goal: a layer of a forbidden class, taken out of a layer that holds one.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(x, eps=1e-5):
    layer = nn.TransformerEncoderLayer(x.shape[-1], 1, 1, layer_norm_eps=eps, dtype=x.dtype)
    return layer.norm1(x)


# And LayerNorm as it should be.
