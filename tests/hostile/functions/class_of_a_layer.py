"""Goal: a forbidden class, asked of a layer that another one holds.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(x, eps=1e-5):
    kind = type(nn.TransformerEncoderLayer(x.shape[-1], 1, 1, layer_norm_eps=eps, dtype=x.dtype).norm1)
    return kind(x.shape[-1], eps, False, dtype=x.dtype)(x)


# And LayerNorm as it should be.
