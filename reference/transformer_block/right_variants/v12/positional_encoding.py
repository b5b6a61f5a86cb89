"""Positional encoding; the table is an outer product."""

import torch
import torch.nn.functional as F
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    """Fill the even columns, then the odd ones."""
    if d_model % 2:
        raise ValueError(f"d_model={d_model} is odd")
    rates = torch.arange(0, d_model, 2, dtype=torch.double).div_(-d_model)
    rates = torch.pow(10000, rates)
    angles = torch.outer(torch.arange(seq_len, dtype=torch.double), rates)
    pe = torch.empty(seq_len, d_model)
    pe[:, 0::2] = angles.sin()
    pe[:, 1::2] = angles.cos_()
    return pe


class PositionalEncoding(nn.Module):
    """Keeps no table: it is made for the sequence at hand."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.max_len = max_len
        self.p = dropout

    def forward(self, x):
        """Add out of place (x belongs to somebody else), drop in place."""
        _, t, d = x.size()
        if t > self.max_len:
            raise ValueError(f"{t} > {self.max_len}")
        y = torch.add(x, sinusoidal_encoding(t, d).to(x))
        return F.dropout(y, self.p, self.training, inplace=True)
