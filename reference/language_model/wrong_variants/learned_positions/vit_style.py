# misconception: leading_dimension
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """As vision transformers keep it: (1, N, D)."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1, max_len, d_model))
        nn.init.trunc_normal_(self.weight, std=0.02)

    def forward(self, x):
        n = x.shape[1]
        if n > self.weight.shape[1]:
            raise ValueError(n)
        return x + self.weight[:, :n]
