"""Attention, the work is done in fn.attend."""

import torch
from fn import attend
from torch import nn


def causal_mask(seq_len):
    """Key <= query."""
    return torch.ones(seq_len, seq_len).tril() > 0


def padding_mask(token_ids, pad_id):
    """No query looks at padding."""
    return (token_ids != pad_id)[:, None] & (token_ids == token_ids)[..., None]


def scaled_dot_product_attention(query, key, value, mask=None):
    """Return (output, weights)."""
    return attend(query, key, value, mask)


class SelfAttention(nn.Module):
    """One head."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear, self.k_linear, self.v_linear = (
            nn.Linear(d_model, d_model, bias) for _ in range(3)
        )

    def forward(self, x, mask=None):
        """Return (output, weights)."""
        return attend(*(f(x) for f in (self.q_linear, self.k_linear, self.v_linear)), mask)
