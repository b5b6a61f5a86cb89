# misconception: positions_from_one
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        w = torch.randn(max_len, d_model, dtype=torch.float64) * 0.02
        self.weight = nn.Parameter(w.float())

    def forward(self, x):
        T = x.size(1)
        if T > self.max_len:
            raise ValueError("too long: %d" % T)
        out = []
        for pos in range(1, T + 1):
            out.append(x[:, pos - 1] + self.weight[pos])
        return torch.stack(out, dim=1)
