"""Exercise: positional encoding."""
import torch
from torch import Tensor, nn


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """
    The sin/cos table of shape (seq_len, d_model), see page 24.
    """
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    positions = torch.arange(seq_len, dtype=torch.float64).reshape(-1, 1)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = positions / torch.pow(10000.0, exponents)
    table = torch.empty(seq_len, d_model, dtype=torch.float64)
    table[:, ::2] = angle.sin()
    table[:, 1::2] = angle.cos()
    return table


class PositionalEncoding(nn.Module):
    """Adds the table to the embeddings."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.table = sinusoidal_encoding(max_len, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """x: (B, T, D) -> (B, T, D)"""
        length = x.shape[1]
        if length > self.max_len:
            raise ValueError(f"got {length} tokens, but max_len is {self.max_len}")
        return self.dropout(x + self.table[:length].to(x.device, x.dtype))
