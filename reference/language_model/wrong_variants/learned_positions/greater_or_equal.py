# misconception: length_off_by_one
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.randn((max_len, d_model)) * 0.02)

    def forward(self, x):
        if x.shape[1] >= self.max_len:
            raise ValueError("sequence is too long")
        index = torch.arange(x.shape[1], device=x.device)
        return x + torch.index_select(self.weight, 0, index)
