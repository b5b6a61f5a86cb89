# misconception: start_variance
import math

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        normal = torch.distributions.Normal(0.0, math.sqrt(0.02))
        self.weight = nn.Parameter(normal.sample((max_len, d_model)))

    def forward(self, x):
        if x.shape[1] > len(self.weight):
            raise ValueError("T is too large")
        return self.weight[: x.shape[1]] + x
