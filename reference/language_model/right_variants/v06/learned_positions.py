"""Learned positions with torch.nn.functional."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parameter import Parameter


class LearnedPositionalEmbedding(nn.Module):
    """A vector for every position."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.register_parameter("weight", Parameter(torch.empty((max_len, d_model))))
        self.reset_parameters()

    def reset_parameters(self):
        """Draw the table."""
        nn.init.trunc_normal_(self.weight, std=0.02)

    def forward(self, x):
        """Add the vectors to x (B, T, D)."""
        length = x.size(1)
        if length > len(self.weight):
            raise ValueError(length)
        picked = F.embedding(torch.arange(length, device=x.device), self.weight)
        return torch.add(x, picked.expand_as(x))
