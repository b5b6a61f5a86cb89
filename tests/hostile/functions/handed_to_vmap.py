"""Goal: a forbidden function handed to a library that calls it.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

from functools import partial


def layer_norm(x, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    norm = partial(F.layer_norm, normalized_shape=x.shape[-1:], eps=eps)
    return torch.vmap(norm)(rows).reshape(x.shape)


# And LayerNorm as it should be.
