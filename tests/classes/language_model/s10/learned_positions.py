"""Learned positions."""

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """A vector for every position."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_len, d_model).normal_(0, 0.02))

    def forward(self, x):
        """Add the vectors to x (B, T, D)."""
        length = x.shape[1]
        if length > len(self.weight):
            raise ValueError("too long")
        return x + self.weight[:length]
