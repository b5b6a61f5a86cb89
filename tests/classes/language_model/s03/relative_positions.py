"""Relative positions, put together from relative_positions_parts."""

import torch
from relative_positions_parts import clipped, forbid, scaled
from torch import Tensor, nn


def relative_distances(seq_len: int, max_distance: int) -> Tensor:
    """Row i is the row 0, 1, 2, ... less i."""
    rows = [torch.arange(-i, seq_len - i) for i in range(seq_len)]
    return clipped(torch.stack(rows), max_distance)


class RelativePositionBias(nn.Module):
    """A table of biases."""

    def __init__(self, num_heads: int, max_distance: int) -> None:
        super().__init__()
        self.reach = max_distance
        self.weight = nn.Parameter(torch.randn(max_distance * 2 + 1, num_heads).mul(2e-2))

    def forward(self, seq_len: int) -> Tensor:
        """Look up all pairs at once, then sort them into heads."""
        rows = relative_distances(seq_len, self.reach).add(self.reach).flatten()
        found = self.weight.index_select(0, rows.to(self.weight.device))
        return found.T.reshape(-1, seq_len, seq_len)


def relative_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Score, forbid, weigh, mix."""
    weights = forbid(scaled(query, key) + bias, mask).softmax(dim=3)
    return weights.matmul(value), weights
