"""Goal: a forbidden function out of a table of one's own, by way of `map`.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn

table = {"norm": F.layer_norm}


def layer_norm(x, eps=1e-5):
    return next(map(table["norm"], [x], [x.shape[-1:]]))


# And LayerNorm as it should be.
