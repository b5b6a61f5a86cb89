"""Goal: inherit from the ready-made layer and keep only its parameters' names.

At most: 0
Status: forbidden
"""

from torch import nn


class LayerNorm(nn.LayerNorm):
    def __init__(self, d_model, eps=1e-5):
        super().__init__((d_model,), eps=eps)


def layer_norm(x, eps=1e-5):
    return LayerNorm(x.shape[-1], eps).to(x.dtype)(x)
