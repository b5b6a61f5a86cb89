"""Loops over sequences, heads and pairs."""

import math

import torch
from torch import nn


def clip(number, limit):
    """Keep a number within the limit."""
    if number > limit:
        return limit
    if number < -limit:
        return -limit
    return number


def relative_distances(seq_len, max_distance):
    """Return the clipped distances (T, T)."""
    table = []
    for i in range(seq_len):
        table.append([clip(j - i, max_distance) for j in range(seq_len)])
    return torch.tensor(table)


class RelativePositionBias(nn.Module):
    """A number for every head and distance."""

    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.heads = num_heads
        self.far = max_distance
        self.weight = nn.Parameter(torch.zeros(2 * max_distance + 1, num_heads))
        with torch.no_grad():
            for row in self.weight:
                row.normal_(0.0, 0.02)

    def forward(self, seq_len):
        """Compute what the class says."""
        heads = []
        for h in range(self.heads):
            rows = []
            for i in range(seq_len):
                row = [self.weight[clip(j - i, self.far) + self.far, h] for j in range(seq_len)]
                rows.append(torch.stack(row))
            heads.append(torch.stack(rows))
        return torch.stack(heads)


def one_head(query, key, value, bias, mask):
    """Attend within one head."""
    scores = torch.mm(query, key.t()).div(math.sqrt(query.size(1))).add(bias)
    if mask is not None:
        nothing = torch.zeros_like(scores)
        scores = scores + nothing.masked_fill(mask.logical_not(), float("-inf"))
    weights = nn.Softmax(dim=1)(scores)
    return torch.mm(weights, value), weights


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    outputs, weights = [], []
    for b in range(query.size(0)):
        allowed = mask
        if mask is not None and mask.dim() == 3:
            allowed = mask[b]
        heads = [
            one_head(query[b, h], key[b, h], value[b, h], bias[h], allowed)
            for h in range(query.size(1))
        ]
        outputs.append(torch.stack([pair[0] for pair in heads]))
        weights.append(torch.stack([pair[1] for pair in heads]))
    return [torch.stack(outputs), torch.stack(weights)]
