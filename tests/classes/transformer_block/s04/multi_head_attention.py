from __future__ import annotations

import torch
from torch import Tensor, nn


def stable_softmax(s: Tensor) -> Tensor:
    e = torch.exp(s - torch.amax(s, dim=-1, keepdim=True).detach())
    return e / torch.sum(e, dim=-1, keepdim=True)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} is not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def _heads(self, t: Tensor) -> Tensor:
        # (B, T, D) -> H pieces of (B, T, D/H) -> (B, H, T, D/H)
        return torch.stack(torch.split(t, self.d_head, dim=-1), dim=1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        q, k, v = self._heads(self.q_linear(x)), self._heads(self.k_linear(x)), self._heads(self.v_linear(x))
        scores = (q * self.d_head ** -0.5) @ k.mT
        if mask is not None:
            # (T, T) -> (1, 1, T, T) and (B, T, T) -> (B, 1, T, T)
            allowed = mask[None, None] if mask.dim() == 2 else mask[:, None]
            additive = torch.where(allowed, 0.0, -torch.inf).to(scores.dtype)
            scores = scores + additive
        weights = stable_softmax(scores)
        per_head = weights @ v
        merged = torch.cat(list(per_head.unbind(dim=1)), dim=-1)
        return self.out_proj(merged), weights
