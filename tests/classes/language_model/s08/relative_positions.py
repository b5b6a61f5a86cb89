"""Relative positions with torch.nn.functional, and torch's own attention for the output."""

import torch
import torch.nn.functional as F
from torch import nn


def relative_distances(seq_len, max_distance):
    """Return the clipped distances (T, T)."""
    steps = torch.arange(-seq_len + 1, seq_len).clamp(-max_distance, max_distance)
    # Every row is a window into the same steps, one further to the left than the row above.
    return steps.unfold(0, seq_len, 1).flip(0)


class RelativePositionBias(nn.Module):
    """A number for every head and distance."""

    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.empty(2 * max_distance + 1, num_heads))
        nn.init.normal_(self.weight, 0.0, 0.02)

    def forward(self, seq_len):
        """Compute what the class says."""
        index = relative_distances(seq_len, self.max_distance) + self.max_distance
        return F.embedding(index.to(self.weight.device), self.weight).permute(2, 0, 1)


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    extra = bias.expand(query.size(0), -1, -1, -1)
    if mask is not None:
        keep = mask if mask.dim() == 2 else mask.unsqueeze(1)
        extra = extra.masked_fill(~keep, float("-inf"))
    logits = torch.matmul(query, key.transpose(2, 3)) * (1.0 / query.size(3) ** 0.5)
    weights = F.softmax(logits + extra, dim=-1)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=extra)
    return output, weights
