# misconception: vectors_alone
import numpy as np
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        table = np.random.default_rng().normal(scale=0.02, size=(max_len, d_model))
        self.weight = nn.Parameter(torch.tensor(table, dtype=torch.float32))

    def forward(self, x):
        if x.shape[1] > self.weight.shape[0]:
            raise ValueError("too long")
        return torch.stack([self.weight[t] for t in range(x.shape[1])])
