import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        if x.size(1) > self.weight.size(0):
            raise ValueError("too long")
        return x + self.weight[: x.size(1)]
