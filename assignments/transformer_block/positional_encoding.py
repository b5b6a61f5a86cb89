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
        float32 or float64.

    Raises:
        ValueError: if `d_model` is odd.

    Source: slides, pages 24 and 25.
    """
    # Your code here.
    raise NotImplementedError


class PositionalEncoding(nn.Module):
    """Add the encoding of its position to every token of a sequence.

    Nothing is learned: the module has no parameters and its `state_dict` is empty.

    Source: slides, pages 23 to 25.
    """

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        """Prepare for sequences of up to `max_len` tokens of `d_model` features.

        Args:
            d_model: number of features of a token, D; even.
            max_len: largest sequence length that `forward` accepts.
            dropout: probability of dropping an element of the sum in training.

        Raises:
            ValueError: if `d_model` is odd.
        """
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Add the encodings of the positions 0 to T - 1 to `x` (B, T, D), then apply dropout.

        Returns:
            Tensor with the shape, dtype and device of `x`.

        Raises:
            ValueError: if T is greater than `max_len`.

        Source: slides, page 25.
        """
        # Your code here.
        raise NotImplementedError
