"""Goal: run the layer in the static runtime, which brings kernels of its own.

At most: 0
Status: forbidden
"""

import torch
from torch import nn


class Plain(nn.Module):
    def __init__(self, features, eps):
        super().__init__()
        self.norm = nn.LayerNorm(features, eps, elementwise_affine=False)

    def forward(self, x):
        return self.norm(x + 0)


def layer_norm(x, eps=1e-5):
    frozen = torch.jit.freeze(torch.jit.script(Plain(x.shape[-1], eps).eval()))
    return torch._C._jit_to_static_module(frozen._c)(x)
