"""Attention a few queries at a time: the scores of all of them never exist at once."""

import math

import torch
import torch.nn.functional as F
from torch import nn

CHUNK = 2  # queries


def causal_mask(seq_len):
    """Clear what lies above the diagonal."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril_()


def padding_mask(token_ids, pad_id):
    """A view, nothing is copied."""
    return token_ids.ne(pad_id).unsqueeze(-2).expand(-1, token_ids.size(-1), -1)


def softmax_(scores):
    """Softmax that uses the memory of the scores."""
    scores.sub_(scores.detach().amax(-1, keepdim=True)).exp_()
    return scores / scores.sum(-1, keepdim=True)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Attend chunk by chunk along the queries."""
    keys = key.transpose(-2, -1)
    scale = 1 / math.sqrt(key.size(-1))
    queries = query.split(CHUNK, dim=-2)
    if mask is None:
        masks = [None] * len(queries)
    else:
        masks = mask.expand(*query.shape[:-1], key.size(-2)).split(CHUNK, dim=-2)
    weights = []
    for some, allowed in zip(queries, masks, strict=True):
        scores = torch.matmul(some, keys).mul_(scale)
        if allowed is not None:
            scores = torch.where(allowed, scores, scores.new_tensor(-math.inf))
        weights.append(softmax_(scores))
    output = torch.cat([torch.matmul(w, value) for w in weights], dim=-2)
    return output, torch.cat(weights, dim=-2)


def project(x, *layers):
    """Run several linear layers as one."""
    weight = torch.cat([layer.weight for layer in layers])
    bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
    return F.linear(x, weight, bias).chunk(len(layers), dim=-1)


class SelfAttention(nn.Module):
    """Query, key and value in one product."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        """Project once, attend."""
        q, k, v = project(x, self.q_linear, self.k_linear, self.v_linear)
        return scaled_dot_product_attention(q, k, v, mask)
