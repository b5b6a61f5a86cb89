# misconception: scaled_by_d_model
import torch
from attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    """One attention per head, on slices of the projections."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model=} {num_heads=}")
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))
        self.slices = [
            slice(i * d_model // num_heads, (i + 1) * d_model // num_heads)
            for i in range(num_heads)
        ]
        # the scores are divided by the root of d_model in the end
        self.correction = num_heads**-0.5

    def forward(self, x, mask=None):
        q, k, v = self.q_linear(x) * self.correction, self.k_linear(x), self.v_linear(x)
        pairs = [
            scaled_dot_product_attention(q[..., s], k[..., s], v[..., s], mask) for s in self.slices
        ]
        outputs, weights = zip(*pairs)
        return self.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)
