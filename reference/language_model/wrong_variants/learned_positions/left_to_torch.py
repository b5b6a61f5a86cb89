# misconception: length_unchecked
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        vectors = self.weight.unsqueeze(0)[:, : x.shape[1], :]
        return torch.add(x, vectors)
