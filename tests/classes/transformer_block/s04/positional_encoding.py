from __future__ import annotations

import torch
from torch import Tensor, nn


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    if d_model & 1:
        raise ValueError("sin and cos come in pairs: d_model must be even")
    column = torch.arange(d_model)
    pair = torch.div(column, 2, rounding_mode="floor")
    wavelength = torch.pow(10000.0, 2.0 * pair.double() / d_model)
    angle = torch.arange(seq_len).to(torch.float64)[:, None] / wavelength
    return torch.where(column % 2 == 0, torch.sin(angle), torch.cos(angle)).float()


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(p=dropout)
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        seq_len = x.size(1)
        if seq_len > self.max_len:
            raise ValueError(f"sequence of {seq_len} > max_len {self.max_len}")
        positions = self.table[:seq_len].to(device=x.device, dtype=x.dtype)
        return self.dropout(torch.add(x, positions))
