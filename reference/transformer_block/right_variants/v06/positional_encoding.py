"""Positional encoding: a frozen lookup table, read by F.embedding."""

import torch
import torch.nn.functional as F
from torch import nn


def point(position, frequency):
    """Sine and cosine for one position and one frequency."""
    return torch.stack((torch.sin(position * frequency), torch.cos(position * frequency)))


def sinusoidal_encoding(seq_len, d_model):
    """Map over the frequencies (rows of points), then over the positions."""
    if d_model % 2:
        raise ValueError(f"d_model must be a multiple of 2, got {d_model}")
    positions = torch.arange(seq_len, dtype=torch.float64)
    frequencies = torch.logspace(0, -4, d_model // 2 + 1, dtype=torch.float64)[:-1]
    grid = torch.vmap(torch.vmap(point, in_dims=(None, 0)), in_dims=(0, None))
    return grid(positions, frequencies).flatten(1)


class PositionalEncoding(nn.Module):
    """Looks positions up like words."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """Add row t of the table to token t."""
        if x.size(1) > self.table.size(0):
            raise ValueError(f"no positions after {self.table.size(0)}, got {x.size(1)}")
        positions = torch.arange(x.size(1), device=x.device).expand(x.size(0), -1)
        return self.dropout(x + F.embedding(positions, self.table.to(x)))
