# Attention with torch.bmm. Bmm wants exact 3 dimensions so I must reshape before and after.
"""Attention, step by step."""

import math

import torch
import torch.nn as nn


def causal_mask(seq_len):
    """True is allowed. The future is forbidden."""
    row_numbers = torch.arange(seq_len)
    row_numbers = row_numbers.unsqueeze(1).repeat(1, seq_len)
    column_numbers = torch.arange(seq_len)
    column_numbers = column_numbers.unsqueeze(0).repeat(seq_len, 1)
    mask = column_numbers <= row_numbers
    assert mask.shape == (seq_len, seq_len)
    return mask


def padding_mask(token_ids, pad_id):
    """True is allowed. The pads are forbidden for look at."""
    batch_size, seq_len = token_ids.shape
    is_pad = token_ids == pad_id
    is_word = torch.logical_not(is_pad)
    is_word = is_word.reshape(batch_size, 1, seq_len)
    mask = is_word.repeat(1, seq_len, 1)
    assert mask.shape == (batch_size, seq_len, seq_len)
    return mask


def scaled_dot_product_attention(query, key, value, mask=None):
    """Return the output and also the attention weights."""
    first_dims = tuple(query.shape[:-2])
    number_of_queries = query.shape[-2]
    number_of_keys = key.shape[-2]
    d_k = query.shape[-1]
    d_v = value.shape[-1]
    assert key.shape[-1] == d_k, "query and key must have same features"
    assert value.shape[-2] == number_of_keys, "every key needs his value"

    # all the first dimensions become one
    how_many = 1
    for size in first_dims:
        how_many = how_many * size
    query_3d = query.reshape(how_many, number_of_queries, d_k)
    key_3d = key.reshape(how_many, number_of_keys, d_k)
    value_3d = value.reshape(how_many, number_of_keys, d_v)

    # scores
    key_transposed = key_3d.permute(0, 2, 1)
    scores = torch.bmm(query_3d, key_transposed)
    scores = scores / math.sqrt(d_k)
    assert scores.shape == (how_many, number_of_queries, number_of_keys)

    # mask: minus very big number gives 0 after the softmax
    if mask is not None:
        big_mask = mask.expand(*first_dims, number_of_queries, number_of_keys)
        mask_3d = big_mask.reshape(how_many, number_of_queries, number_of_keys)
        forbidden = mask_3d == 0
        scores = scores.masked_fill(forbidden, -1e9)

    weights = torch.softmax(scores, dim=2)
    output = torch.bmm(weights, value_3d)

    # and back to the many dimensions
    output = output.reshape(*first_dims, number_of_queries, d_v)
    weights = weights.reshape(*first_dims, number_of_queries, number_of_keys)
    return output, weights


class SelfAttention(nn.Module):
    """The sentence looks at himself."""

    def __init__(self, d_model, bias=True):
        super().__init__()
        self.d_model = d_model
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        """Give back output and weights."""
        batch_size, seq_len, d_model = x.shape
        assert d_model == self.d_model, "wrong size of features"
        query = self.q_linear(x)
        key = self.k_linear(x)
        value = self.v_linear(x)
        output, weights = scaled_dot_product_attention(query, key, value, mask)
        assert output.shape == (batch_size, seq_len, d_model)
        assert weights.shape == (batch_size, seq_len, seq_len)
        return output, weights


if __name__ == "__main__":
    print(causal_mask(3))
    print(padding_mask(torch.tensor([[4, 5, 0]]), 0))
    out, w = SelfAttention(64)(torch.randn(2, 5, 64))
    print(out.shape, w.shape)
