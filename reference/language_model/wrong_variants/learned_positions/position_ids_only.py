# misconception: input_not_added
import torch
import torch.nn as nn
import torch.nn.functional as F


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.randn(max_len, d_model) / 50)

    def forward(self, x):
        batch_size, seq_len = x.shape[0], x.shape[1]
        if seq_len > self.max_len:
            raise ValueError("too many positions")
        position_ids = torch.arange(seq_len, device=x.device).unsqueeze(0).expand(batch_size, -1)
        return F.embedding(position_ids, self.weight)
