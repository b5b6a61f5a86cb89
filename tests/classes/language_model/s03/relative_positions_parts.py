"""The steps of relative attention, each by itself."""

import math

import torch
from torch import Tensor

FORBIDDEN = float("-inf")


def clipped(values: Tensor, limit: int) -> Tensor:
    """Keep values within the limit, to either side."""
    return values.minimum(torch.tensor(limit)).maximum(torch.tensor(-limit))


def scaled(query: Tensor, key: Tensor) -> Tensor:
    """Compare every query with every key."""
    root = math.sqrt(math.sqrt(query.size(-1)))
    return (query / root) @ (key / root).transpose(2, 3)


def forbid(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Make forbidden scores minus infinity."""
    if mask is None:
        return scores
    batch, heads, length, _ = scores.shape
    mask = mask.expand(batch, length, length).unsqueeze(1).expand(batch, heads, length, length)
    return scores.masked_fill(torch.logical_not(mask), FORBIDDEN)
