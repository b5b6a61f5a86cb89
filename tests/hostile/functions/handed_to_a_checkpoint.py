"""Goal: a forbidden function handed on by a name of one's own.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

from torch.utils.checkpoint import checkpoint

norm = F.layer_norm


def layer_norm(x, eps=1e-5):
    return checkpoint(norm, x, x.shape[-1:], None, None, eps, use_reentrant=False)


# And LayerNorm as it should be.
