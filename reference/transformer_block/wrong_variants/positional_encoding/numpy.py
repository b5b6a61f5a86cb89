import torch
import torch.nn as nn
import numpy as np


def sinusoidal_encoding(seq_len: int, d_model: int) -> torch.Tensor:
    """
    Computes the sinusoidal positional encoding matrix.

    Args:
        seq_len (int): The length of the sequence.
        d_model (int): The dimension of the model.

    Returns:
        torch.Tensor: The positional encodings.
    """
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, got {d_model}")

    positions = np.arange(seq_len)[:, np.newaxis]
    dims = np.arange(d_model)[np.newaxis, :]
    angle_rates = 1 / np.power(10000.0, (2 * (dims // 2)) / np.float32(d_model))
    angle_rads = positions * angle_rates

    encoding = np.zeros((seq_len, d_model))
    encoding[:, 0::2] = np.sin(angle_rads[:, 0::2])
    encoding[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return torch.from_numpy(encoding).float()


class PositionalEncoding(nn.Module):
    """Adds positional information to the token embeddings."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0):
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)
        self.encoding = sinusoidal_encoding(max_len, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch_size, seq_len, d_model = x.size()
        if seq_len > self.max_len:
            raise ValueError(f"Sequence length {seq_len} exceeds maximum {self.max_len}")
        pos = self.encoding[:seq_len, :].unsqueeze(0).to(device=x.device, dtype=x.dtype)
        return self.dropout(x + pos)
