"""
Self-Attention Implementation
=============================
"""
import math
from typing import Optional, Tuple

import torch
import torch.nn as nn
from torch import Tensor


def causal_mask(seq_len: int) -> Tensor:
    """Create a causal (look-ahead) mask."""
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for row in range(seq_len):
        for column in range(row + 1):
            mask[row, column] = True
    return mask


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Create a padding mask for a batch of token ids."""
    batch_size, seq_len = token_ids.size()
    mask = torch.ones(batch_size, seq_len, seq_len, dtype=torch.bool, device=token_ids.device)
    is_pad = token_ids == pad_id
    return mask.masked_fill(is_pad.unsqueeze(1), False)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Optional[Tensor] = None
) -> Tuple[Tensor, Tensor]:
    """Compute scaled dot-product attention."""
    d_k = key.shape[-1]

    scaled_query = query / math.sqrt(d_k)

    attention_scores = scaled_query @ key.mT

    if mask is not None:
        additive = torch.zeros_like(attention_scores)
        additive = additive.masked_fill(mask.logical_not(), float("-inf"))
        attention_scores = attention_scores + additive

    attention_weights = nn.Softmax(dim=-1)(attention_scores)

    attention_output = attention_weights @ value
    return attention_output, attention_weights


class SelfAttention(nn.Module):
    """Single-head self-attention."""

    def __init__(self, d_model: int, bias: bool = True):
        super().__init__()
        self.d_model = d_model
        self.q_linear = nn.Linear(in_features=d_model, out_features=d_model, bias=bias)
        self.k_linear = nn.Linear(in_features=d_model, out_features=d_model, bias=bias)
        self.v_linear = nn.Linear(in_features=d_model, out_features=d_model, bias=bias)

    def forward(self, x: Tensor, mask: Optional[Tensor] = None) -> Tuple[Tensor, Tensor]:
        """Apply self-attention to the input."""
        query, key, value = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
        return output, weights
