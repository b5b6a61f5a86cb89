"""Attention for one query against all keys, mapped over queries and then over the rest."""

from functools import partial

import torch
from torch import nn


def causal_mask(seq_len):
    """Sliding windows over 0 ... 0 1 ... 1, mirrored."""
    line = torch.arange(2 * seq_len - 1) >= seq_len - 1
    return line.unfold(0, seq_len, 1).flip(1)


def padding_mask(token_ids, pad_id):
    """Map over the sequences of the batch."""
    length = token_ids.size(1)
    return torch.vmap(lambda ids: ids.ne(pad_id).expand(length, length))(token_ids)


def one_query(query, allowed, keys, values):
    """query (d_k,), allowed (Tk,), keys (Tk, d_k), values (Tk, d_v)."""
    scores = keys.mv(query) / query.numel() ** 0.5
    weights = torch.where(allowed, scores, -torch.inf).softmax(0)
    return values.mT.mv(weights), weights


def scaled_dot_product_attention(query, key, value, mask=None):
    """Give the pair of (..., Tq, d_v) and (..., Tq, Tk)."""
    lead, pairs = query.shape[:-2], (query.size(-2), key.size(-2))
    if mask is None:
        mask = torch.ones(pairs, dtype=torch.bool, device=query.device)
    mask = mask.expand(*lead, *pairs)
    attend = torch.vmap(one_query, in_dims=(0, 0, None, None))
    for _ in lead:
        attend = torch.vmap(attend)
    return attend(query, mask, key, value)


class SelfAttention(nn.Module):
    """One head."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        linear = partial(nn.Linear, d_model, d_model, bias=bias)
        self.q_linear, self.k_linear, self.v_linear = linear(), linear(), linear()

    def forward(self, x, mask=None):
        """The pair (output, weights)."""
        return scaled_dot_product_attention(
            self.q_linear(x), self.k_linear(x), self.v_linear(x), mask
        )
