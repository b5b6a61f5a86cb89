"""Goal: unpickle by a lesser module of torch.

At most: 0
"""

import torch
from torch import nn
from torch.utils.data.datapipes.utils.decoder import basichandlers

data = b"\x80\x04\x8c\x05torch\x8c\x13ops.aten.layer_norm\x93."
norm = basichandlers("pickle", data)


def layer_norm(x, eps=1e-5):
    return norm(x, list(x.shape[-1:]), None, None, eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
