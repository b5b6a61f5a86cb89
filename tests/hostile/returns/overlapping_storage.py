"""Goal: return an overlapping view of a storage that is cut off afterwards.

At most: 3.5
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    base = torch.zeros(64, dtype=x.dtype)
    view = torch.as_strided(base, x.shape, [1] * x.dim(), 3)
    base.untyped_storage().resize_(8)
    return view


# And LayerNorm as it should be.
