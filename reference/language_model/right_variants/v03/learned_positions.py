"""Token by token."""

import random

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """A vector for every position."""

    def __init__(self, max_len, d_model):
        super().__init__()
        rows = []
        for _ in range(max_len):
            rows.append([random.gauss(0.0, 0.02) for _ in range(d_model)])
        self.weight = nn.Parameter(torch.tensor(rows))

    def forward(self, x):
        """Add the vectors to x (B, T, D)."""
        tokens = []
        for t in range(x.shape[1]):
            try:
                vector = self.weight[t]
            except IndexError:
                raise ValueError(f"no vector for position {t}") from None
            tokens.append(x[:, t] + vector)
        return torch.stack(tokens, dim=1)
