# misconception: divided_by_d_k
"""No matrices: every query by itself."""
import torch
from torch import nn


def causal_mask(seq_len):
    rows = [[j <= i for j in range(seq_len)] for i in range(seq_len)]
    return torch.tensor(rows, dtype=torch.bool).reshape(seq_len, seq_len)


def padding_mask(token_ids, pad_id):
    real = token_ids != pad_id
    return torch.stack([real for _ in range(token_ids.size(1))], dim=1)


def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    rows = []
    for i in range(query.size(-2)):
        score = (query[..., i : i + 1, :] * key).sum(dim=-1) / d_k
        if mask is not None:
            allowed = mask.expand(*mask.shape[:-2], query.size(-2), key.size(-2))[..., i, :]
            score = score.masked_fill(~allowed, -torch.inf)
        rows.append(torch.softmax(score, dim=-1))
    weights = torch.stack(rows, dim=-2)
    return weights @ value, weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(
            self.q_linear(x), self.k_linear(x), self.v_linear(x), mask
        )
