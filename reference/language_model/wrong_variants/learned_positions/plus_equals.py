# misconception: in_place
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        T = x.shape[1]
        if T > self.weight.shape[0]:
            raise ValueError(T)
        for t in range(T):
            x[:, t] += self.weight[t]
        return x
