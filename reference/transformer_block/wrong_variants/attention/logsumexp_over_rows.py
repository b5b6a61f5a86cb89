# misconception: softmax_over_queries
import torch
from torch import nn


def causal_mask(seq_len):
    return ~torch.ones(seq_len, seq_len, dtype=torch.bool).triu(1)


def padding_mask(token_ids, pad_id):
    return (token_ids[:, None, :] != pad_id) & torch.ones_like(token_ids, dtype=torch.bool)[..., None]


def scaled_dot_product_attention(query, key, value, mask=None):
    logits = torch.matmul(query, key.mT).div(query.shape[-1] ** 0.5)
    if mask is not None:
        logits = torch.where(mask, logits, -torch.inf)
    weights = torch.exp(logits - torch.logsumexp(logits, dim=-2, keepdim=True))
    return torch.matmul(weights, value), weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        projected = [layer(x) for layer in (self.q_linear, self.k_linear, self.v_linear)]
        return scaled_dot_product_attention(*projected, mask=mask)
