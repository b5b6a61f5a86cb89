import numpy as np
import torch
from torch import nn


def causal_mask(seq_len):
    return torch.from_numpy(np.tri(seq_len, dtype=bool))


def padding_mask(token_ids, pad_id):
    B, T = token_ids.shape
    rows = torch.from_numpy(np.ones((1, T, 1), dtype=bool)).to(token_ids.device)
    return rows & (token_ids != pad_id).reshape(B, 1, T)


def scaled_dot_product_attention(query, key, value, mask=None):
    assert query.shape[-1] == key.shape[-1], "query and key need the same d_k"
    assert key.shape[-2] == value.shape[-2], "as many values as keys"
    q, k, v = query.float(), key.float(), value.float()
    scores = q @ k.transpose(-1, -2) / float(np.sqrt(q.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask), float(-np.inf))
    weights = scores.softmax(dim=-1)
    return [(weights @ v).to(query.dtype), weights.to(query.dtype)]


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        assert x.dim() == 3, "expected (B, T, D)"
        q, k, v = [f(x) for f in (self.q_linear, self.k_linear, self.v_linear)]
        return scaled_dot_product_attention(q, k, v, mask)
