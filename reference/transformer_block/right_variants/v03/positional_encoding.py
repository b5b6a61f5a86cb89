"""Positional encoding: a table object that computes itself once, and a pipeline around it."""

import math
from functools import cached_property

import torch
from base import Pipeline
from torch import Tensor, nn


class SinusoidTable:
    """The encodings of `length` positions, computed when first needed; not a module."""

    base = 10_000.0

    def __init__(self, length: int, width: int) -> None:
        if width % 2 != 0:
            raise ValueError(f"the number of features must be even, got {width}")
        self.length, self.width = length, width

    def wavelength(self, pair: int) -> float:
        """Positions in one full turn of this pair's clock hand."""
        return 2 * math.pi * self.base ** (2 * pair / self.width)

    @cached_property
    def values(self) -> Tensor:
        """All rows, float64."""
        positions = torch.arange(self.length, dtype=torch.float64)
        table = positions.new_empty(self.length, self.width)
        for pair in range(self.width // 2):
            turns = positions / self.wavelength(pair)
            table[:, 2 * pair] = torch.sin(2 * math.pi * turns)
            table[:, 2 * pair + 1] = torch.cos(2 * math.pi * turns)
        return table

    def rows_like(self, x: Tensor) -> Tensor:
        """As many rows as x has tokens, in its dtype, on its device."""
        tokens = x.size(-2)
        if tokens > self.length:
            raise ValueError(f"{tokens} tokens are more than {self.length}")
        return self.values[:tokens].to(x)


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Compute the table (seq_len, d_model)."""
    return SinusoidTable(seq_len, d_model).values


class PositionalEncoding(Pipeline):
    """Add the table, then drop."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self._table = SinusoidTable(max_len, d_model)
        self.drop = nn.Dropout(dropout)

    def _add_table(self, x: Tensor) -> Tensor:
        return x + self._table.rows_like(x)

    @property
    def stages(self):
        """The sum, then dropout."""
        return self._add_table, self.drop
