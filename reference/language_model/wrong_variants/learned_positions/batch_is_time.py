# misconception: positions_along_batch
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    # sequence first, as nn.Transformer has it
    def __init__(self, max_len, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.normal(0.0, 0.02, (max_len, d_model)))

    def forward(self, x):
        seq_len, batch, _ = x.size()
        if seq_len > self.weight.size(0):
            raise ValueError("too long")
        pos = torch.arange(seq_len, device=x.device)
        emb = nn.functional.embedding(pos, self.weight)
        return x + emb[:, None, :].repeat(1, batch, 1)
