"""A table that knows its size."""

import torch
from torch import nn


class Table(nn.Module):
    """Rows of normally distributed numbers, by number."""

    def __init__(self, rows: int, columns: int, deviation: float) -> None:
        super().__init__()
        mean = torch.zeros(rows, columns)
        self.weight = nn.Parameter(torch.normal(mean, deviation))

    def first(self, count: int) -> torch.Tensor:
        """Return the first rows, all of which must exist."""
        if not count <= len(self.weight):
            raise ValueError(f"{count} rows of {len(self.weight)}")
        return self.weight.narrow(0, 0, count)
