"""Scaled dot-product attention with additive masks, as in the paper's formula softmax(QK^T/sqrt(d) + M)V."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """True = may look."""
    future = torch.ones((seq_len, seq_len)).triu(diagonal=1)
    return future == 0


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    T = token_ids.size(1)
    return (token_ids != pad_id)[:, None, :].repeat(1, T, 1)


def my_softmax(s: Tensor) -> Tensor:
    """Softmax over the last dimension. Subtracting the maximum avoids inf / inf."""
    s = s - s.max(dim=-1, keepdim=True).values.detach()
    e = torch.exp(s)
    return e / e.sum(dim=-1, keepdim=True)


def to_additive(mask: Tensor, scores: Tensor) -> Tensor:
    """0 where one may look, the lowest number of this dtype where one may not."""
    lowest = torch.finfo(scores.dtype).min
    zeros = torch.zeros_like(scores)
    return zeros.masked_fill(~mask, lowest)


def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor,
                                 mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    d_k: int = key.shape[-1]
    scores = torch.matmul(query, key.mT) / math.sqrt(d_k)
    if mask is None:
        weights = my_softmax(scores)
    else:
        # clamp: a negative score plus the lowest number would overflow to -inf
        scores = torch.clamp(scores + to_additive(mask, scores), min=torch.finfo(scores.dtype).min)
        weights = my_softmax(scores)
        # and to be on the safe side: exactly zero
        weights = weights * mask.to(weights.dtype)
    return torch.matmul(weights, value), weights


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return scaled_dot_product_attention(
            query=self.q_linear(x), key=self.k_linear(x), value=self.v_linear(x), mask=mask
        )
