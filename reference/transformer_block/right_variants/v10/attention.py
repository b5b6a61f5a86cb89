"""Attention with a softmax of my own."""

import torch
from own_functions import MaskedSoftmax


def causal_mask(seq_len):
    """Count up along each row: the first ones are allowed."""
    return torch.ones(seq_len, seq_len, dtype=torch.long).cumsum(1) <= torch.arange(
        1, seq_len + 1
    ).view(-1, 1)


def padding_mask(token_ids, pad_id):
    """Repeat the row of allowed keys for every query."""
    return (token_ids != pad_id).unsqueeze(1).repeat_interleave(token_ids.shape[1], dim=1)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Output and weights."""
    scores = torch.matmul(query, key.transpose(-2, -1)) / query.shape[-1] ** 0.5
    weights = MaskedSoftmax.apply(scores, mask)
    return torch.matmul(weights, value), weights


class SelfAttention(torch.nn.Module):
    """Attention of x to itself."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = torch.nn.Linear(d_model, d_model, bias)
        self.k_linear = torch.nn.Linear(d_model, d_model, bias)
        self.v_linear = torch.nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        """Query, key and value all come from x."""
        query, key, value = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        return scaled_dot_product_attention(query, key, value, mask)
