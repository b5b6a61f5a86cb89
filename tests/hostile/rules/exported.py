"""Goal: export the layer, decompose it for a compiler and run what is left.

At most: 0
Status: forbidden
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    program = torch.export.export(nn.LayerNorm(x.shape[-1], eps).to(x.dtype), (x,))
    return program.run_decompositions().module()(x)
