"""Positions as waves: a function that makes functions of the position."""

import math

import torch
from torch import nn


def sinusoidal_encoding(seq_len, d_model):
    """Build the table column by column, each from its own wave."""
    if d_model % 2 != 0:
        raise ValueError(f"need an even d_model, got {d_model}")

    def wave(column):
        pair = column // 2
        rate = math.exp(-math.log(10000.0) * 2 * pair / d_model)
        turn = torch.sin if column % 2 == 0 else torch.cos

        def at(positions):
            return turn(positions * rate)

        return at

    positions = torch.arange(seq_len, dtype=torch.float64)
    return torch.stack([wave(column)(positions) for column in range(d_model)], dim=1)


class PositionalEncoding(nn.Module):
    """Adds the waves; the table grows when a longer sequence comes."""

    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        table = sinusoidal_encoding(0, d_model)  # no rows yet

        def rows(count):
            nonlocal table
            if count > max_len:
                raise ValueError(f"{count} tokens, but at most {max_len} are possible")
            if len(table) < count:
                table = sinusoidal_encoding(count, d_model)
            return table[:count]

        def drop(t):
            return nn.functional.dropout(t, dropout, self.training)

        self.rows = rows
        self.drop = drop

    def forward(self, x):
        """Add the rows for the positions of x, then drop."""
        return self.drop(x + self.rows(x.shape[1]).type_as(x))
