"""Goal: have a class that is the exercise make the mask.

Component: attention
At most: 0
Status: forbidden
"""

import math

import torch
from torch import nn


def causal_mask(seq_len):
    return nn.Transformer.generate_square_subsequent_mask(seq_len) == 0


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id).unsqueeze(1).repeat(1, token_ids.size(1), 1)


def scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
