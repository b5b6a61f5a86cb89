"""Relative positions."""

import torch
from torch import nn


def relative_distances(seq_len, max_distance):
    """Return the clipped distances (T, T)."""
    i = torch.arange(seq_len)
    return (i - i[:, None]).clip(-max_distance, max_distance)


class RelativePositionBias(nn.Module):
    """A number for every head and distance."""

    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.m = max_distance
        self.weight = nn.Parameter(torch.empty(2 * max_distance + 1, num_heads).normal_(0, 0.02))

    def forward(self, seq_len):
        """Compute what the class says."""
        return self.weight.T[:, relative_distances(seq_len, self.m) + self.m]


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    s = query @ key.mT / query.shape[-1] ** 0.5 + bias
    if mask is not None:
        if mask.dim() == 3:
            mask = mask[:, None]
        s = s.masked_fill(mask == False, -torch.inf)  # noqa: E712
    w = s.softmax(-1)
    return w @ value, w
