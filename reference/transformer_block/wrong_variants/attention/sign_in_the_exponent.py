# misconception: zero_before_softmax
import math

import torch
from torch import nn


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id).unsqueeze(1).repeat(1, token_ids.size(1), 1)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        # (almost) nothing for masked pairs
        scores = scores.masked_fill(~mask, -1e-9)
    weights = torch.softmax(scores / math.sqrt(query.size(-1)), dim=-1)
    return weights @ value, weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q, k, v = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        return scaled_dot_product_attention(q, k, v, mask)
