"""Positional encoding: every pair of columns is a point that walks around the unit circle."""

import math

import torch
from torch import nn


def log_angles(seq_len: int, pairs: int, device=None):
    """log(pos) - 2i/D log(10000); the log of position 0 is -inf, and exp gives 0 back."""
    position = torch.arange(seq_len, dtype=torch.float64, device=device)
    pair = torch.arange(pairs, dtype=torch.float64, device=device)
    return position.log().unsqueeze(-1) - pair / pairs * math.log(10000.0)


def sinusoidal_encoding(seq_len: int, d_model: int):
    """The imaginary part of exp(i angle) is the sine, the real part the cosine."""
    pairs, odd = divmod(d_model, 2)
    if odd:
        raise ValueError(f"{d_model} features do not make pairs")
    angle = torch.exp(log_angles(seq_len, pairs))
    points = torch.polar(torch.ones_like(angle), angle)  # cos + i sin
    return torch.view_as_real(points).flip(-1).reshape(seq_len, d_model)


class PositionalEncoding(nn.Module):
    """Here the cosine is a sine that is a quarter turn ahead."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0):
        super().__init__()
        if d_model % 2:
            raise ValueError(f"{d_model} features do not make pairs")
        self.pairs = d_model // 2
        self.max_len = max_len
        self.dropout = dropout

    def forward(self, x):
        """dropout(x + encoding), the encoding computed on the device of x."""
        seq_len = x.size(1)
        if seq_len > self.max_len:
            raise ValueError(f"{seq_len} tokens, but max_len={self.max_len}")
        angle = torch.exp(log_angles(seq_len, self.pairs, x.device)).repeat_interleave(2, dim=-1)
        phase = torch.tensor([0.0, math.pi / 2], dtype=torch.float64).repeat(self.pairs)
        encoding = torch.sin(angle + phase.to(x.device)).to(x.dtype)
        return torch.dropout(x + encoding, self.dropout, self.training)
