# misconception: one_position_for_all
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        self.weight.data.normal_(mean=0.0, std=0.02)

    def forward(self, x):
        t = x.shape[-2]
        if t > self.weight.shape[0]:
            raise ValueError(f"length {t} is more than {self.weight.shape[0]}")
        return x.add(self.weight.select(0, t))
