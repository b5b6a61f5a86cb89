"""Goal: an heir of a forbidden class that makes itself.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn


class Norm(nn.LayerNorm):
    def __init__(self, width, eps):
        nn.Module.__init__(self)
        self.normalized_shape, self.eps = (width,), eps
        self.weight = self.bias = None


def layer_norm(x, eps=1e-5):
    return Norm(x.shape[-1], eps)(x)


# And LayerNorm as it should be.
