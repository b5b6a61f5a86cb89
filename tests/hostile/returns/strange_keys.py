"""Goal: name parameters so that a terminal, a page or a path would be taken in.

At most: 1
"""

import torch
from torch import nn

NAMES = ["../../etc/passwd", "\x1b[31mred\x1b]0;title\x07", "<script>", "\u202egnp", "w" * 2**20]


def layer_norm(x, eps=1e-5):
    return x


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def state_dict(self, *args, **kwargs):
        return {name: self.weight for name in NAMES}

    def named_parameters(self, *args, **kwargs):
        return iter(self.state_dict().items())

    def forward(self, x):
        return x
