import torch
import torch.nn as nn


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    pos = torch.arange(seq_len, dtype=torch.float64).unsqueeze(1)
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = pos / 10000 ** (i / d_model)
    pe = torch.zeros(seq_len, d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.pe = sinusoidal_encoding(max_len, d_model)  # not a buffer, so not in the state_dict

    def forward(self, x):
        T = x.shape[1]
        if T > self.max_len:
            raise ValueError("sequence too long")
        return self.dropout(x + self.pe[:T].to(x))
