# misconception: float32_result
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        if x.shape[1] > self.weight.shape[0]:
            raise ValueError("too long")
        table = self.weight.to(torch.float32)
        return x.to(torch.float32) + table[: x.shape[1]]
