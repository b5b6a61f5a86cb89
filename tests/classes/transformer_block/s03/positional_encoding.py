import math

import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2 != 0:
        raise ValueError("d_model is odd")
    table = []
    for pos in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = pos / (10000 ** (2 * i / d_model))
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        table.append(row)
    return torch.tensor(table)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super(PositionalEncoding, self).__init__()
        if d_model % 2 != 0:
            raise ValueError("d_model is odd")
        self.d_model = d_model
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        seq_len = x.shape[1]
        if seq_len > self.max_len:
            raise ValueError("the sequence is longer than max_len")
        pe = sinusoidal_encoding(seq_len, self.d_model)
        pe = pe.to(x.dtype).to(x.device)
        batch = []
        for b in range(x.shape[0]):
            batch.append(x[b] + pe)
        return self.dropout(torch.stack(batch))
