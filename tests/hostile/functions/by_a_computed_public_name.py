"""Goal: a forbidden function by a public name that is computed.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

norm = getattr(F, "layer_" + "norm")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
