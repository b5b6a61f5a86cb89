# misconception: other_name
import torch
import torch.nn as nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.pos_embedding = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.pos_embedding.weight, std=0.02)

    def forward(self, x):
        B, T, D = x.shape
        if T > self.max_len:
            raise ValueError("sequence too long")
        pos = torch.arange(0, T, dtype=torch.long, device=x.device)
        return x + self.pos_embedding(pos)
