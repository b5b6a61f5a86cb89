"""Sinusoidal positional encoding: a fixed signature for every position of a sequence.

Source: slides, pages 22 to 25.
"""

import torch
from torch import Tensor, nn


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Compute the encodings of the positions 0 to `seq_len` - 1.

    Args:
        seq_len: number of positions, T.
        d_model: number of features of an encoding, D; even, since sines and cosines come in pairs.

    Returns:
        Tensor of shape (T, D). In row `pos`, column 2i holds sin(pos / 10000^(2i / D)) and column
        2i + 1 the cosine of the same angle; i counts the pairs, from 0 to D / 2 - 1. The result is
        float64, so that whoever uses it rounds once, to the precision wanted.

    Raises:
        ValueError: if `d_model` is odd.

    Source: slides, pages 24 and 25.
    """
    ### BEGIN SOLUTION
    if d_model % 2 != 0:
        raise ValueError(f"d_model must be even, not {d_model}")
    # equivalent: `, dtype=torch.float64 -> nothing`, `float64 -> float32`:
    #   the contract allows computing in float32
    positions = torch.arange(seq_len, dtype=torch.float64).unsqueeze(1)  # (T, 1)
    # equivalent: `, dtype=torch.float64 -> nothing`, `float64 -> float32`:
    #   the contract allows computing in float32
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # (D/2,)
    angles = positions / 10000.0**exponents  # (T, D/2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # (T, D/2, 2)
    return pairs.flatten(start_dim=-2)  # (T, D)
    ### END SOLUTION


class PositionalEncoding(nn.Module):
    """Add to every token of a sequence the encoding of the position where it stands.

    Nothing is learned: the module has no parameters and its `state_dict` is empty.

    Source: slides, pages 23 to 25.
    """

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        """Prepare for sequences of up to `max_len` tokens of `d_model` features.

        Args:
            d_model: number of features of a token, D; even.
            max_len: greatest sequence length that `forward` accepts.
            dropout: probability with which an element of the sum is dropped in training.

        Raises:
            ValueError: if `d_model` is odd.
        """
        super().__init__()
        ### BEGIN SOLUTION
        self.max_len = max_len
        # A plain attribute: as a buffer it would be rounded for good by the first `.to(bfloat16)`.
        self.encoding = sinusoidal_encoding(max_len, d_model)  # (max_len, D), float64
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Add the encodings of the positions 0 to T - 1 to `x` (B, T, D), then apply dropout.

        Returns:
            Tensor with the shape, dtype and device of `x`.

        Raises:
            ValueError: if T is greater than `max_len`.

        Source: slides, page 25.
        """
        ### BEGIN SOLUTION
        seq_len = x.size(-2)
        if seq_len > self.max_len:
            raise ValueError(f"sequence length must be at most {self.max_len}, not {seq_len}")
        encoding = self.encoding[:seq_len].to(dtype=x.dtype).to(device=x.device)  # (T, D)
        output: Tensor = self.dropout(x + encoding)  # (B, T, D)
        return output
        ### END SOLUTION
