# misconception: dropout_applied
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.drop = nn.Dropout(p=0.1)

    def forward(self, x):
        n = x.size(1)
        if n > self.weight.size(0):
            raise ValueError("too long")
        return self.drop(x + self.weight[:n].expand(x.size(0), n, -1))
