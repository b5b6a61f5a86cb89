import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        count = x.shape[1]
        if count > len(self.weight):
            raise ValueError(f"no vector for position {count - 1}")
        return x + self.weight[:count]
