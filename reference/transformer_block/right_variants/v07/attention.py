"""Attention and masks; everything that is used only once lives where it is used."""

import torch
from torch import nn


def causal_mask(seq_len):
    """Allow every query its own key and the earlier ones."""

    def row(query):
        return [key <= query for key in range(seq_len)]

    return torch.tensor([row(query) for query in range(seq_len)], dtype=torch.bool)


def padding_mask(token_ids, pad_id):
    """Forbid the keys that are padding."""

    def for_one_query(ids):
        return ids.ne(pad_id)

    return torch.stack([for_one_query(token_ids)] * token_ids.shape[1], dim=1)


def scaled_dot_product_attention(query, key, value, mask=None):
    """Mix the values by how well the keys fit the queries."""

    def score():
        scale = query.shape[-1] ** 0.25
        return (query / scale) @ (key / scale).mT

    def forbid(scores):
        return scores if mask is None else scores.where(mask, -torch.inf)

    def share(scores):
        # softmax by way of the logarithm
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()

    weights = share(forbid(score()))
    return weights @ value, weights


def make_projection(d_model, bias):
    """Make the layer for queries, keys or values."""
    return nn.Linear(in_features=d_model, out_features=d_model, bias=bias)


class SelfAttention(nn.Module):
    """One head over all the features."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = make_projection(d_model, bias)
        self.k_linear = make_projection(d_model, bias)
        self.v_linear = make_projection(d_model, bias)

    def forward(self, x, mask=None):
        """Return the mixed values and the weights."""

        def project(layer):
            return layer(x)

        layers = (self.q_linear, self.k_linear, self.v_linear)
        return scaled_dot_product_attention(*map(project, layers), mask=mask)
