"""Relative positions: a bias on the score of two tokens that depends on their distance.

Source: slides, page 27.
"""

import math

import torch
from torch import Tensor, nn


def relative_distances(seq_len: int, max_distance: int) -> Tensor:
    """Compute the clipped distance from every query to every key.

    Args:
        seq_len: number of positions, T.
        max_distance: largest distance; distances beyond it are clipped, in both directions.

    Returns:
        Integer tensor (int64) of shape (T, T), rows for queries and columns for keys: j - i in row
        i and column j, clipped to -max_distance ... max_distance.

    Source: slides, page 27.
    """
    ### BEGIN SOLUTION
    position = torch.arange(seq_len)  # (T,)
    distance = position[None, :] - position[:, None]  # (T, T)
    return distance.clamp(-max_distance, max_distance)  # (T, T)
    ### END SOLUTION


class RelativePositionBias(nn.Module):
    """A learned number for every head and every clipped distance.

    Parameters, by their `state_dict` keys:
        weight: (2 * max_distance + 1, H), drawn from a normal distribution with mean 0 and
            deviation 0.02. The first row belongs to the distance -max_distance, the last one to
            max_distance.

    Source: slides, page 27.
    """

    def __init__(self, num_heads: int, max_distance: int) -> None:
        """Make the random table for `num_heads` heads, H."""
        super().__init__()
        ### BEGIN SOLUTION
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.randn(2 * max_distance + 1, num_heads) * 0.02)
        ### END SOLUTION

    def forward(self, seq_len: int) -> Tensor:
        """Look up the bias of every pair of positions, for every head.

        Args:
            seq_len: number of positions, T, of any size.

        Returns:
            Tensor of shape (H, T, T), rows for queries and columns for keys, with the dtype and
            device of `weight`.

        Source: slides, page 27.
        """
        ### BEGIN SOLUTION
        distance = relative_distances(seq_len, self.max_distance)  # (T, T)
        # equivalent: torch takes an index from the CPU for a table on any device, too
        row = (distance + self.max_distance).to(self.weight.device)  # (T, T), from 0
        return self.weight[row].permute(2, 0, 1)  # (T, T, H) to (H, T, T)
        ### END SOLUTION


def relative_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Attend with a bias on the scores.

    Args:
        query, key: tensors of shape (B, H, T, d_k).
        value: tensor of shape (B, H, T, d_v).
        bias: tensor of shape (H, T, T), added to the scaled scores before the softmax.
        mask: boolean tensor of shape (T, T) or (B, T, T), True where the query may attend to the
            key; None allows every pair. Every query needs at least one allowed key.

    Returns:
        The pair (output, weights), with the dtype and device of `query`. weights (B, H, T, T) is
        the softmax over the keys of query · keyᵀ / sqrt(d_k) + bias, and exactly 0 where masked;
        output (B, H, T, d_v) is weights · value.

    Source: slides, page 27; session, knowledge point 3.
    """
    ### BEGIN SOLUTION
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)) + bias  # (B, H, T, T)
    if mask is not None:
        if mask.dim() == 3:
            mask = mask.unsqueeze(1)  # (B, 1, T, T): the same for every head
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)  # (B, H, T, T)
    return weights @ value, weights
    ### END SOLUTION
