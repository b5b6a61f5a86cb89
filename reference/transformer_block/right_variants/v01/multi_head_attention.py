"""Many heads: split, attend, join, project."""

from functools import partial

from fn import attend, join, split
from torch import nn


class MultiHeadAttention(nn.Module):
    """H heads."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model=} / {num_heads=}")
        linear = partial(nn.Linear, d_model, d_model, bias)
        self.q_linear, self.k_linear, self.v_linear = linear(), linear(), linear()
        self.out_proj, self.split = linear(), partial(split, h=num_heads)

    def forward(self, x, mask=None):
        """Return (output, weights)."""
        qkv = (self.split(f(x)) for f in (self.q_linear, self.k_linear, self.v_linear))
        y, w = attend(*qkv, mask if mask is None else mask.unsqueeze(-3))
        return self.out_proj(join(y)), w
