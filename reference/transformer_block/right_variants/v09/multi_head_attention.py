"""Multi-head attention: the heads are one more axis."""

import numpy as np
from attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    """Self-attention with the heads on axis 1."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        assert np.mod(d_model, num_heads) == 0, "d_model is no multiple of num_heads"
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        """(B, T, D) -> (B, T, H, D/H) -> (B, H, T, D/H) and back."""
        shape = (*x.shape[:-1], self.num_heads, -1)
        q = self.q_linear(x).reshape(shape).swapaxes(1, 2)
        k = self.k_linear(x).reshape(shape).swapaxes(1, 2)
        v = self.v_linear(x).reshape(shape).swapaxes(1, 2)
        if mask is not None:
            mask = mask[..., np.newaxis, :, :]
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(output.moveaxis(1, 2).reshape(x.shape)), weights
