"""Attention: masks are biases of log(1) = 0 and log(0) = -inf, added by baddbmm."""

import torch
from torch import nn


def causal_mask(seq_len: int):
    """Summing the identity downwards fills the lower triangle."""
    return torch.eye(seq_len, dtype=torch.int64).cumsum(dim=0).bool()


def padding_mask(token_ids, pad_id: int):
    """Repeat the row of real tokens for every query."""
    return token_ids.ne(pad_id).unsqueeze(-2).expand(-1, token_ids.size(-1), -1)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Scores = bias + alpha q k^T in one call."""
    *lead, tq, d_k = query.shape
    tk, d_v = value.shape[-2:]
    q = query.reshape(-1, tq, d_k)
    k = key.reshape(-1, tk, d_k)
    v = value.reshape(-1, tk, d_v)
    if mask is None:
        bias = q.new_zeros(1, 1, 1)
    else:
        bias = mask.to(q.dtype).log().expand(*lead, tq, tk).reshape(-1, tq, tk)
    scores = torch.baddbmm(bias, q, k.mT, alpha=d_k**-0.5)
    weights = torch.log_softmax(scores, dim=-1, dtype=torch.float64).exp().to(q.dtype)
    return torch.bmm(weights, v).reshape(*lead, tq, d_v), weights.reshape(*lead, tq, tk)


class SelfAttention(nn.Module):
    """Single head."""

    def __init__(self, d_model: int, bias: bool = True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        """Output and weights."""
        q, k, v = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        return scaled_dot_product_attention(q, k, v, mask)
