"""Learned positions: a trained vector for every position, added to the token at this position.

Source: slides, pages 22, 23 and 26.
"""

import torch
from torch import Tensor, nn


class LearnedPositionalEmbedding(nn.Module):
    """One trained vector for every position up to a maximum length.

    Parameters, by their `state_dict` keys:
        weight: (max_len, D), drawn from a normal distribution with mean 0 and deviation 0.02.

    Source: slides, page 26.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        """Make the table of random vectors.

        Args:
            max_len: number of positions, and so of vectors.
            d_model: number of features of a token, D.
        """
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        """Add the vector of its position, 0 to T - 1, to every token of `x` (B, T, D).

        Returns:
            Tensor of shape (B, T, D), with the dtype and device of `x`.

        Raises:
            ValueError: T is greater than `max_len`.

        Source: slides, pages 23 and 26.
        """
        # Your code here.
        raise NotImplementedError
