"""Scaled dot-product attention, the masks that restrict it, and self-attention with one head.

Masks are boolean; True means: this query may attend to this key.

Source: session, knowledge point 3; walkthrough, attention.
"""

import math

import torch
from torch import Tensor, nn


def causal_mask(seq_len: int) -> Tensor:
    """Make the mask that lets every position attend to itself and to earlier positions.

    Args:
        seq_len: number of positions, T.

    Returns:
        Boolean tensor of shape (T, T), rows for queries and columns for keys: True on the
        diagonal and below it, False above it.

    Source: session, knowledge point 3 (practice exercise).
    """
    # Your code here.
    raise NotImplementedError


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Make the mask that hides padding from every query.

    Args:
        token_ids: integer tensor of shape (B, T).
        pad_id: the id that marks a padding token.

    Returns:
        Boolean tensor of shape (B, T, T), on the device of `token_ids`: in every row, False in
        the columns where the sequence has a padding token and True in the others.

    Source: walkthrough, attention, step 1 (no weight is given to PAD).
    """
    # Your code here.
    raise NotImplementedError


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values for every query, weighted by how well their keys match the query.

    Args:
        query: tensor of shape (..., Tq, d_k).
        key: tensor of shape (..., Tk, d_k).
        value: tensor of shape (..., Tk, d_v).
        mask: boolean tensor that broadcasts to (..., Tq, Tk), True where the query may attend to
            the key; None allows every pair. Every query needs at least one allowed key.

    Returns:
        The pair (output, weights), of the dtype and device of `query`. weights (..., Tq, Tk) is the
        softmax over the keys of query · keyᵀ / sqrt(d_k): every row sums to 1, and a masked key has
        a weight of exactly 0. output (..., Tq, d_v) is weights · value.

    Source: session, knowledge point 3 (mathematical formulation).
    """
    # Your code here.
    raise NotImplementedError


class SelfAttention(nn.Module):
    """Attention of a sequence to itself: queries, keys and values are projections of one input.

    Parameters, by their `state_dict` keys:
        q_linear.weight, k_linear.weight, v_linear.weight: (D, D).
        q_linear.bias, k_linear.bias, v_linear.bias: (D,), absent with `bias=False`.

    Source: session, knowledge point 3.
    """

    def __init__(self, d_model: int, bias: bool = True) -> None:
        """Make the three projections of `d_model` features, with or without `bias`."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Apply attention to `x` (B, T, D), as queries, keys and values.

        Args:
            x: floating-point tensor of shape (B, T, D).
            mask: boolean tensor of shape (T, T) or (B, T, T), True where the query may attend to
                the key; None allows every pair.

        Returns:
            The pair (output (B, T, D), weights (B, T, T)). The scores are divided by sqrt(D).

        Source: session, knowledge point 3.
        """
        # Your code here.
        raise NotImplementedError
