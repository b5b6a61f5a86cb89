"""Goal: torch's other attention.

Component: attention
At most: 0
Status: forbidden
"""

import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.nn.functional.softmax((query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf) if mask is not None else query @ key.mT / query.shape[-1] ** 0.5, -1)
    def score(s, b, h, i, j):
        return s if mask is None else torch.where(mask[i, j], s, -torch.inf)
    return flex_attention(query[:, None], key[:, None], value[:, None], score_mod=score)[:, 0], weights


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id)[:, None, :].expand(-1, token_ids.shape[1], -1)
