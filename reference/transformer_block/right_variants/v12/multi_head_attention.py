"""Multi-head attention with batched matrix products."""

import torch
from attention import project, softmax_
from torch import nn


class MultiHeadAttention(nn.Module):
    """One fused projection, heads as views of it, baddbmm for the scores."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        self.h = num_heads
        self.d, rest = divmod(d_model, num_heads)
        if rest != 0:
            raise ValueError(f"{d_model} is not a multiple of {num_heads}")
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        """The penalty of the mask is what the product is added to."""
        b, t, _ = x.size()
        parts = project(x, self.q_linear, self.k_linear, self.v_linear)
        q, k, v = (
            p.reshape(b, t, self.h, self.d).permute(0, 2, 1, 3).reshape(-1, t, self.d)
            for p in parts
        )
        penalty = x.new_zeros(b, self.h, t, t)
        if mask is not None:
            penalty.masked_fill_(~mask.view(-1, 1, t, t), -torch.inf)
        scores = torch.baddbmm(penalty.view(-1, t, t), q, k.mT, alpha=self.d**-0.5)
        weights = softmax_(scores)
        mixed = torch.bmm(weights, v).view(b, self.h, t, self.d)
        joined = mixed.permute(0, 2, 1, 3).flatten(2)
        return self.out_proj(joined), weights.unflatten(0, (b, self.h))
