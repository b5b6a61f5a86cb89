import math

import torch
import torch.nn as nn


def causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len, dtype=torch.bool))


def padding_mask(token_ids, pad_id):
    B, T = token_ids.shape
    return (token_ids != pad_id).unsqueeze(1).expand(B, T, T)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
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
