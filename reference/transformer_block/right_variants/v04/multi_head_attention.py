"""Multi-head attention: one big projection for all three, made from the three weights."""

import torch
import torch.nn.functional as F
from attention import scaled_dot_product_attention
from pieces import Dense
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """q, k and v come out of one matrix product."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if num_heads <= 0 or d_model % num_heads != 0:
            raise ValueError(f"cannot divide {d_model} by {num_heads}")
        self.num_heads = num_heads
        self.q_linear = Dense(d_model, d_model, bias)
        self.k_linear = Dense(d_model, d_model, bias)
        self.v_linear = Dense(d_model, d_model, bias)
        self.out_proj = Dense(d_model, d_model, bias)

    def project(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (3, B, H, T, D/H)."""
        layers = (self.q_linear, self.k_linear, self.v_linear)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
        qkv = F.linear(x, weight, bias)  # (B, T, 3 D)
        batch, length, _ = x.shape
        return qkv.reshape(batch, length, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(output (B, T, D), weights (B, H, T, T))."""
        query, key, value = self.project(x).unbind(0)
        if mask is not None:
            batch, length, _ = x.shape
            mask = mask.expand(batch, length, length)[:, None]
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.out_proj(output.movedim(1, 2).reshape(x.shape)), weights
