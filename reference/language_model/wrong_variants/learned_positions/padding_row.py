# misconception: one_row_too_many
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Embedding):
    def __init__(self, max_len, d_model):
        super().__init__(max_len + 1, d_model)
        nn.init.normal_(self.weight, 0, 0.02)
        self.max_len = max_len

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return x + nn.Embedding.forward(self, torch.arange(x.size(1), device=x.device))
