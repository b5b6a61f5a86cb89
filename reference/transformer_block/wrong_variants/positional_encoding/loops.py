import math
import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2 == 1:
        raise ValueError("odd: %d" % d_model)
    table = []
    for pos in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = pos / (10000 ** (2 * i / d_model))
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        table.append(row)
    return torch.tensor(table, dtype=torch.float32)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.p = dropout
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x):
        b, t, d = x.shape
        if t > self.max_len:
            raise ValueError("too long")
        enc = self.table[:t].to(x.device).to(x.dtype)
        y = x + enc
        return nn.functional.dropout(y, self.p, self.training)
