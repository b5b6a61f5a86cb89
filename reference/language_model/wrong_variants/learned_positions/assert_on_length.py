# misconception: length_asserted
import torch
import torch.nn.functional as F
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.block_size = max_len
        self.weight = nn.Parameter(torch.empty(max_len, d_model))
        torch.nn.init.normal_(self.weight, mean=0.0, std=0.02)

    def forward(self, x):
        b, t, c = x.size()
        assert t <= self.block_size, f"Cannot forward sequence of length {t}"
        pos = torch.arange(0, t, dtype=torch.long, device=x.device)  # shape (t)
        return x + F.embedding(pos, self.weight)
