"""Attention with the handmade softmax."""

import math

import torch
from pieces import Dense, softmax
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """Not the future."""
    return ~torch.ones(seq_len, seq_len, dtype=torch.bool).triu(1)


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Columns of padding are False."""
    batch, length = token_ids.size()
    mask = torch.ones(batch, length, length, dtype=torch.bool, device=token_ids.device)
    return mask.masked_fill((token_ids == pad_id).unsqueeze(-2), False)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """softmax(q k^T / sqrt(d_k)) v, both factors scaled by the fourth root."""
    root = math.sqrt(math.sqrt(query.size(-1)))
    scores = torch.matmul(query / root, (key / root).transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    weights = softmax(scores)
    return torch.matmul(weights, value), weights


class SelfAttention(nn.Module):
    """One head."""

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        self.q_linear = Dense(d_model, d_model, bias)
        self.k_linear = Dense(d_model, d_model, bias)
        self.v_linear = Dense(d_model, d_model, bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """(output, weights)."""
        return scaled_dot_product_attention(
            self.q_linear(x), self.k_linear(x), self.v_linear(x), mask
        )
