"""Multi-head attention: the output projection is the sum of one small projection a head."""

import torch
from attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    """Concatenating and projecting = projecting each head with its columns, and adding up."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads={num_heads} is no divisor of d_model={d_model}")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def heads(self, linear, x):
        """Features of head h are those with index // (D/H) == h."""
        y = linear(x)
        return y.view(*y.shape[:-1], self.num_heads, -1).permute(0, 2, 1, 3)  # (B, H, T, d)

    def forward(self, x, mask=None):
        """Output and the weights of every head."""
        if mask is not None:
            mask = mask.unsqueeze(-3)  # (1, T, T) or (B, 1, T, T)
        q, k, v = (self.heads(f, x) for f in (self.q_linear, self.k_linear, self.v_linear))
        mixed, weights = scaled_dot_product_attention(q, k, v, mask)
        # (D, D) -> (H, d, D): the rows that head h meets in the transposed weight
        shares = self.out_proj.weight.t().reshape(self.num_heads, -1, x.size(-1))
        output = torch.matmul(mixed.double(), shares.double()).sum(dim=1)
        if self.out_proj.bias is not None:
            output = output + self.out_proj.bias.double()
        return output.to(x.dtype), weights
