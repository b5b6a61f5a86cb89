import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    pos = torch.arange(seq_len, dtype=torch.float64)[:, None]
    angle = pos / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(seq_len, d_model)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.table = sinusoidal_encoding(max_len, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("the sequence is too long")
        return self.dropout(x + self.table[: x.shape[1]].to(x))
