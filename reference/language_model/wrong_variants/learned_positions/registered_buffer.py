# misconception: not_trained
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super(LearnedPositionalEmbedding, self).__init__()
        self.register_buffer("weight", 0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        seq_len = x.size(1)
        if seq_len > self.weight.size(0):
            raise ValueError("Sequence length exceeds max_len")
        pos = self.weight[:seq_len].unsqueeze(0).repeat(x.size(0), 1, 1)
        return x + pos
