"""Positional encoding: the table is made by NumPy."""

import numpy as np
import torch
from torch import nn


def encoding_table(seq_len, d_model):
    """Make the (seq_len, d_model) array: a cosine is a sine a quarter of a turn ahead."""
    if d_model % 2 != 0:
        raise ValueError("d_model is odd: " + str(d_model))
    pos = np.arange(seq_len)[:, np.newaxis]
    col = np.arange(d_model)[np.newaxis, :]
    angles = pos / np.power(10000.0, (col - col % 2) / d_model)
    return np.sin(angles + np.pi / 2 * (col % 2))


def sinusoidal_encoding(seq_len, d_model):
    """Convert the array to a tensor."""
    return torch.from_numpy(encoding_table(seq_len, d_model))


class PositionalEncoding(nn.Module):
    """Add the table; the dropout is written out."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.rate = dropout
        self.table = encoding_table(max_len, d_model)

    def forward(self, x):
        """Add one row per position, the same ones for every sequence."""
        n = x.shape[1]
        if n > self.table.shape[0]:
            raise ValueError("at most " + str(len(self.table)) + " positions, not " + str(n))
        y = x + torch.from_numpy(self.table[np.newaxis, :n, :]).to(x)
        if not self.training or self.rate == 0:
            return y
        keep = torch.rand(y.shape, device=y.device) >= self.rate
        return y * keep / max(1 - self.rate, np.finfo(np.float32).tiny.item())
