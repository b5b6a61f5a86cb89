"""Goal: define what is asked for under names that only Python takes for those.

At most: 14
"""

import torch
from torch import nn


def ｌａｙｅｒ_ｎorm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    return deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()


class ＬａｙｅｒＮｏｒｍ(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.ｅｐｓ = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return ｌａｙｅｒ_ｎorm(x, self.ｅｐｓ) * self.weight + self.bias
