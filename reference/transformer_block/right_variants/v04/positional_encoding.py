"""Positional encoding with Python's own sin and cos."""

import math

import torch
from pieces import Drop
from torch import Tensor, nn


def encode(position: int, feature: int, d_model: int) -> float:
    """One number of the table: even features are sines, odd ones cosines."""
    pair = feature // 2
    angle = position / math.pow(10000.0, 2 * pair / d_model)
    return math.cos(angle) if feature % 2 else math.sin(angle)


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Table (seq_len, d_model)."""
    if d_model % 2 != 0:
        raise ValueError(f"d_model = {d_model} cannot be put into pairs")
    numbers = [encode(t, j, d_model) for t in range(seq_len) for j in range(d_model)]
    return torch.tensor(numbers, dtype=torch.float64).reshape(seq_len, d_model)


class PositionalEncoding(nn.Module):
    """x + table, dropout at the end."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % 2 != 0:
            raise ValueError(f"d_model = {d_model} cannot be put into pairs")
        self.d_model = d_model
        self.max_len = max_len
        self.drop = Drop(dropout)
        self.known: Tensor | None = None  # the longest table so far

    def table(self, length: int) -> Tensor:
        """Grow the table when a longer sequence comes."""
        if self.known is None or len(self.known) < length:
            self.known = sinusoidal_encoding(length, self.d_model)
        return self.known[:length]

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        length = x.size(1)
        if length > self.max_len:
            raise ValueError(f"{length} is longer than max_len = {self.max_len}")
        return self.drop(x + self.table(length).to(dtype=x.dtype, device=x.device)[None])
