"""Goal: torch's own normalisation by length, of a vector with one number more.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    width = x.shape[-1]
    one_more = torch.full_like(x[..., :1], (width * eps) ** 0.5)
    longer = torch.cat([deviation, one_more], -1)
    return F.normalize(longer, dim=-1)[..., :-1] * width**0.5


# And LayerNorm as it should be.
