"""Relative positions: numpy for what is fixed, plain powers of e for what is learned."""

import numpy as np
import torch
from torch import nn


def relative_distances(seq_len, max_distance):
    """Return the clipped distances (T, T)."""
    ones = np.subtract.outer(np.arange(seq_len), np.arange(seq_len))
    return torch.from_numpy(np.clip(-ones, -max_distance, max_distance).astype(np.int64))


class RelativePositionBias(nn.Module):
    """A number for every head and distance."""

    def __init__(self, num_heads, max_distance):
        super().__init__()
        rng = np.random.RandomState(0)
        start = rng.randn(2 * max_distance + 1, num_heads) * 0.02
        self.weight = nn.Parameter(torch.tensor(start, dtype=torch.float32))

    @property
    def reach(self):
        """The greatest distance there is a row for."""
        return (self.weight.shape[0] - 1) // 2

    def forward(self, seq_len):
        # One diagonal a distance: the numbers from far left to far right, then shifts of them.
        """Compute what the class says."""
        steps = np.clip(np.arange(1 - seq_len, seq_len), -self.reach, self.reach) + self.reach
        line = self.weight[torch.from_numpy(steps)]  # (2T - 1, H)
        rows = [line[seq_len - 1 - i : 2 * seq_len - 1 - i] for i in range(seq_len)]
        return torch.stack(rows).permute(2, 0, 1)


def relative_attention(query, key, value, bias, mask=None):
    """Return output and weights."""
    scale = float(np.sqrt(query.shape[-1]))
    scores = (query.unsqueeze(3) * key.unsqueeze(2)).sum(-1) / scale
    scores = scores + bias[None]
    if mask is None:
        allowed = torch.ones_like(scores, dtype=torch.bool)
    else:
        allowed = (
            mask.view(-1, 1, *mask.shape[-2:])
            if mask.is_contiguous()
            else (mask.reshape(-1, 1, *mask.shape[-2:]))
        )
        allowed = allowed.expand(scores.shape)
    lowest = scores.detach().masked_fill(~allowed, -np.inf).max(dim=-1, keepdim=True).values
    powers = torch.where(allowed, torch.exp(torch.where(allowed, scores - lowest, 0.0)), 0.0)
    weights = powers / powers.sum(dim=-1, keepdim=True)
    output = (weights.unsqueeze(-1) * value.unsqueeze(2)).sum(3)
    return output, weights
