"""Sines and cosines, made anew in each forward."""

import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    """Encode the positions 0 ... seq_len - 1."""
    if d_model % 2:
        raise ValueError(f"{d_model=} is odd")
    pos, two_i = (torch.arange(*r).double() for r in ((0, seq_len, 1), (0, d_model, 2)))
    angles = torch.outer(pos, 1e4 ** -(two_i / d_model))
    return torch.dstack((angles.sin(), angles.cos())).flatten(1)


class PositionalEncoding(nn.Module):
    """x -> dropout(x + encoding)."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.longest, self.drop = max_len, nn.Dropout(dropout)

    def forward(self, x):
        """Add the encoding to x (B, T, D)."""
        if (t := x.shape[-2]) > self.longest:
            raise ValueError(f"{t} tokens, only {self.longest} allowed")
        return self.drop(x + sinusoidal_encoding(t, x.shape[-1]).to(x))
