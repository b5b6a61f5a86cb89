import numpy as np
import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2 != 0:
        raise ValueError("odd d_model: %d" % d_model)
    pos = np.arange(seq_len)[:, np.newaxis]
    two_i = np.arange(0, d_model, 2)[np.newaxis, :]
    angle = pos / np.power(10000, two_i / d_model)
    table = np.empty((seq_len, d_model), dtype=np.float32)
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return torch.from_numpy(table)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.drop = nn.Dropout(dropout)
        self.register_buffer("table", None, persistent=False)  # made when it is needed first

    def forward(self, x):
        T = x.shape[1]
        if T > self.max_len:
            raise ValueError("too long: %d positions, at most %d" % (T, self.max_len))
        # .to() / .half() may have changed the cached copy, always keep it in single precision
        if self.table is None or self.table.dtype != torch.float32 or self.table.device != x.device:
            self.table = sinusoidal_encoding(self.max_len, self.d_model).to(x.device)
        y = x.float() + self.table[:T]
        return self.drop(y.to(x.dtype))
