"""Learned positions, the start drawn with numpy, the sum by other means."""

import numpy as np
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """A vector for every position."""

    def __init__(self, max_len, d_model):
        super().__init__()
        start = np.random.default_rng().normal(0.0, 0.02, size=(max_len, d_model))
        self.weight = nn.Parameter(torch.from_numpy(start.astype(np.float32)))

    def forward(self, x):
        """Add the vectors to x (B, T, D)."""
        spare = self.weight.shape[0] - x.shape[1]
        if spare < 0:
            raise ValueError(f"{-spare} tokens too many")
        used = torch.split(self.weight, [x.shape[1], spare])[0]
        sums = [sequence.float() + used.float() for sequence in x.unbind(0)]
        return torch.stack(sums).to(x.dtype)
