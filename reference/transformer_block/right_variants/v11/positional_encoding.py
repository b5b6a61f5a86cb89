"""Positional encoding with a cached table."""

from __future__ import annotations

from functools import lru_cache

import torch
from guards import BadDimensionError, Sizes, check_sequence, log
from torch import Tensor, nn


@lru_cache(maxsize=8)
def _cached_table(*, seq_len: int, d_model: int) -> Tensor:
    log.info("new table for %d positions", seq_len)
    positions = torch.arange(seq_len, dtype=torch.float64, device="cpu")
    rates = torch.tensor(
        [10000.0 ** (-2 * pair / d_model) for pair in range(d_model // 2)],
        dtype=torch.float64,
        device="cpu",
    )
    angles = torch.kron(positions.unsqueeze(1), rates.unsqueeze(0))  # (T, D/2)
    waves = torch.cat((torch.sin(angles), torch.cos(angles)), dim=1)
    order = torch.arange(d_model, device="cpu").view(2, -1).T.flatten()  # 0, D/2, 1, D/2 + 1, ...
    return waves.index_select(1, order)


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Hand out a copy of the table: the cached one must stay as it is."""
    if seq_len < 0:
        raise BadDimensionError(f"{seq_len} positions")
    if d_model % 2 or d_model < 0:
        raise BadDimensionError(f"d_model must be even, not {d_model}")
    return _cached_table(seq_len=seq_len, d_model=d_model).clone()


class PositionalEncoding(nn.Module):
    """Adds a fixed signature to every position."""

    table: Tensor

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes = Sizes(d_model=d_model, dropout=dropout)
        self.max_len = max_len
        self.register_buffer("table", sinusoidal_encoding(max_len, d_model), persistent=False)
        self.dropout = nn.Dropout(p=dropout)
        self.register_forward_hook(lambda module, inputs, output: None)

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"d_model={self.sizes.d_model}, max_len={self.max_len}"

    def _rows(self, x: Tensor) -> Tensor:
        table = self.table
        if torch.finfo(table.dtype).eps > torch.finfo(x.dtype).eps:
            # the module was rounded to less than x has
            table = sinusoidal_encoding(self.max_len, self.sizes.d_model)
        return table.narrow(0, 0, x.shape[1]).to(dtype=x.dtype, device=x.device)

    def forward(self, x: Tensor) -> Tensor:
        """Add and drop."""
        check_sequence(x, features=self.sizes.d_model)
        if x.shape[1] > self.max_len:
            raise BadDimensionError(f"{x.shape[1]} positions, but max_len={self.max_len}")
        return self.dropout(x.add(self._rows(x)))
