"""Goal: reach the report by the names of parameters.

At most: 10
Status: graded
"""

import torch
from torch import nn

NAMES = [
    "\x1b[2J", "\u202e", "a\nhint: 14 of 14", "\ud800", "<script>", "[red]", "k" * 100_000,
    "weight; (3,); (4,)", "weight; found weight", " ", "=1+1", "\0",
]  # fmt: skip


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        for number, name in enumerate(NAMES):
            self.register_parameter(name, nn.Parameter(torch.ones(number)))
            self.register_buffer(name + "'", torch.ones(number))
        self.scale = nn.Parameter(torch.ones(d_model))
        self.shift = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return layer_norm(x, self.eps) * self.scale + self.shift
