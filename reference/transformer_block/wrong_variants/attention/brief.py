import torch
from torch import nn


def causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len)).bool()


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id)[:, None, :].repeat(1, token_ids.shape[1], 1)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        q, k, v = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        return scaled_dot_product_attention(q, k, v, mask)
