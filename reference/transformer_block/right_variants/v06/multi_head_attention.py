"""Multi-head attention: chunks of features, stacked, and vmap over the heads."""

import torch
from torch import nn


def one_head(query, key, value, allowed):
    """Three times (B, T, d), and allowed, which broadcasts to (B, T, T)."""
    scores = query @ key.mT / query.size(-1) ** 0.5
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """The heads are a dimension of their own only inside forward."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"chunks would be unequal: {d_model} / {num_heads}")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def heads(self, projected):
        """(B, T, D) -> (H, B, T, d)."""
        return torch.stack(projected.chunk(self.num_heads, dim=-1))

    def forward(self, x, mask=None):
        """The pair (output, weights)."""
        if mask is None:
            mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)
        attend = torch.vmap(one_head, in_dims=(0, 0, 0, None), out_dims=(2, 1))
        outputs, weights = attend(
            self.heads(self.q_linear(x)),
            self.heads(self.k_linear(x)),
            self.heads(self.v_linear(x)),
            mask,
        )
        return self.out_proj(torch.cat(outputs.unbind(2), dim=-1)), weights
