"""Masks and attention with checks."""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import torch
from guards import BadDimensionError, BadTensorError, Sizes, check_mask, check_sequence, xavier
from torch import Tensor, nn

MINUS_INFINITY: Final = float("-inf")


class Attended(NamedTuple):
    """What attention returns."""

    output: Tensor
    weights: Tensor


@cache
def _triangle(*, seq_len: int) -> Tensor:
    rows, columns = torch.tril_indices(seq_len, seq_len, device="cpu")
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool, device="cpu")
    mask[rows, columns] = True
    return mask


def causal_mask(seq_len: int) -> Tensor:
    """Hand out a copy of the triangle."""
    if seq_len < 0:
        raise BadDimensionError(f"{seq_len} positions")
    return _triangle(seq_len=int(seq_len)).clone()


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Forbid padding as a key."""
    if token_ids.is_floating_point() or token_ids.is_complex():
        raise BadTensorError(f"ids must be integers, not {token_ids.dtype}")
    match token_ids.shape:
        case (batch, length):
            keys = torch.ne(token_ids, pad_id).reshape(batch, 1, length)
            return keys.tile((1, length, 1))
        case shape:
            raise BadDimensionError(f"ids must be (B, T), not {tuple(shape)}")


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Attended:
    """Attend, after a look at the shapes."""
    if query.shape[-1] != key.shape[-1]:
        raise BadDimensionError(f"queries of {query.shape[-1]}, keys of {key.shape[-1]} features")
    if key.shape[-2] != value.shape[-2]:
        raise BadDimensionError(f"{key.shape[-2]} keys, {value.shape[-2]} values")
    scores = torch.matmul(query, key.mT).mul(query.shape[-1] ** -0.5)
    check_mask(mask, scores=scores)
    if mask is not None:
        scores = scores.masked_fill(torch.bitwise_not(mask), MINUS_INFINITY)
    weights = nn.Softmax(dim=-1)(scores)
    return Attended(output=weights.matmul(value), weights=weights)


class SelfAttention(nn.Module):
    """One head."""

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        self.sizes = Sizes(d_model=d_model, bias=bias)
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        xavier(self.q_linear, self.k_linear, self.v_linear)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sizes})"

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Attended:
        """Attend to x itself."""
        check_sequence(x, features=self.sizes.d_model)
        return scaled_dot_product_attention(
            query=self.q_linear(x), key=self.k_linear(x), value=self.v_linear(x), mask=mask
        )
