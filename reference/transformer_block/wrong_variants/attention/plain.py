import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len)).bool()


def padding_mask(token_ids, pad_id):
    B, T = token_ids.shape
    mask = (token_ids != pad_id).unsqueeze(1)
    return mask.repeat(1, T, 1)


def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = F.softmax(scores, dim=-1)
    output = torch.matmul(weights, value)
    return output, weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.q_linear(x)
        k = self.k_linear(x)
        v = self.v_linear(x)
        return scaled_dot_product_attention(q, k, v, mask)
