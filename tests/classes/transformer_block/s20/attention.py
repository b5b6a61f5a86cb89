"""Exercise: self-attention."""
import math
from typing import Optional, Tuple

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """(T, T), True on and below the diagonal."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril(diagonal=0)


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """(B, T) -> (B, T, T), False for the columns of padding tokens."""
    batch, length = token_ids.shape
    real = token_ids != pad_id
    return real.view(batch, 1, length).expand(batch, length, length)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor]:
    """
    softmax(Q K^T / sqrt(d_k)) V

    Returns the output and the attention w.
    """
    d_k = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-1, -2))
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -math.inf)  # noqa: E712
    w = scores.softmax(dim=-1)
    return torch.matmul(w, value), w


class SelfAttention(nn.Module):
    """Attention with a single head."""

    def __init__(self, d_model: int, bias: bool = True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        """x: (B, T, D) -> (B, T, D) and (B, T, T)"""
        return scaled_dot_product_attention(self.q_linear(x), self.k_linear(x), self.v_linear(x), mask)
