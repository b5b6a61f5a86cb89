# misconception: start_uniform
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter((torch.rand(max_len, d_model) - 0.5) * 0.04)

    def forward(self, x):
        T = x.shape[1]
        if T > self.weight.shape[0]:
            raise ValueError
        return x + self.weight[:T, :]
