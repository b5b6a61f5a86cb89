import torch


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool)


def scaled_dot_product_attention(query, key, value, mask=None):
    return value, query
