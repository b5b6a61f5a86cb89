# misconception: length_clipped
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 2e-2)

    def forward(self, x):
        last = self.weight.shape[0] - 1
        rows = [self.weight[min(t, last)] for t in range(x.shape[1])]
        return x + torch.stack(rows, 0)
