# misconception: frozen
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def lookup(self, n):
        return self.weight.data.narrow(0, 0, n)

    def forward(self, x):
        if x.shape[1] > self.weight.shape[0]:
            raise ValueError("too long")
        return x + self.lookup(x.shape[1])
