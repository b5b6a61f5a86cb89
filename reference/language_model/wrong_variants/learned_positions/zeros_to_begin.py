# misconception: start_zero
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.parameter.Parameter(torch.zeros((max_len, d_model)))

    def forward(self, x):
        if x.size(1) > self.weight.size(0):
            raise ValueError(f"max_len is {self.weight.size(0)}")
        return torch.cat([(seq + self.weight[: x.size(1)])[None] for seq in x])
