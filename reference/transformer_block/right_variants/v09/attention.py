"""Attention by broadcasting: products and sums over an axis, no matrix product anywhere."""

import numpy as np
import torch
from torch import nn


def causal_mask(seq_len):
    """Lower triangle."""
    return torch.tril(torch.ones((seq_len, seq_len))) > 0


def padding_mask(token_ids, pad_id):
    """(B, 1, T) against (1, T, 1) is (B, T, T)."""
    every_query = torch.ones_like(token_ids[0], dtype=torch.bool)[np.newaxis, :, np.newaxis]
    return (token_ids != pad_id)[:, np.newaxis, :] & every_query


def softmax(a, axis):
    """Softmax along an axis."""
    e = torch.exp(a - torch.amax(a, axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Every query (axis -3 below) meets every key (axis -2)."""
    scores = (query[..., :, None, :] * key[..., None, :, :]).sum(axis=-1)
    scores = scores / np.sqrt(query.shape[-1])
    if mask is not None:
        scores = torch.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    output = (weights[..., :, :, None] * value[..., None, :, :]).sum(axis=-2)
    return output, weights


class SelfAttention(nn.Module):
    """Three projections of x, then attention."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        """Project and attend."""
        return scaled_dot_product_attention(
            self.q_linear(x), self.k_linear(x), self.v_linear(x), mask
        )
