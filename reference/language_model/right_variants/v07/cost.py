"""With checks of everything that comes in."""

from __future__ import annotations

import operator

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def _sizes(*sizes: int) -> tuple[int, ...]:
    """Take whole numbers that are not negative."""
    whole = tuple(operator.index(size) for size in sizes)
    if min(whole) < 0:
        raise ValueError(f"a size is negative: {whole}")
    return whole


def projection_cost(n: int, d: int) -> int:
    """Count Wq, Wk, Wv and Wo."""
    n, d = _sizes(n, d)
    return n * (d * d + d * d + d * d + d * d)


def attention_cost(n: int, d: int) -> int:
    """Count QKᵀ and its product with V."""
    n, d = _sizes(n, d)
    scores, sums = n * d * n, n * n * d
    return scores + sums


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count both layers."""
    n, d, f = _sizes(n, d, f)
    return n * (d * f + f * d)


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count all blocks."""
    (layers,) = _sizes(layers)
    return (projection_cost(n, d) + attention_cost(n, d) + feed_forward_cost(n, d, f)) * layers


def meeting_length(d: int, f: int) -> int:
    """Find the length, and make sure of it."""
    d, f = _sizes(d, f)
    length = 2 * d + f
    for n in (length - 1, length):
        rest = projection_cost(n, d) + feed_forward_cost(n, d, f)
        if (attention_cost(n, d) >= rest) != (n == length) and n > 0:
            raise ArithmeticError(f"{n} of {length}")
    return length


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count on the encoder's own device."""
    (n,) = _sizes(n)
    device = next((p.device for p in encoder.parameters()), torch.device("cpu"))
    token_ids = torch.zeros(1, n, dtype=torch.long, device=device)
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        result = encoder(token_ids)
    if result.shape[:2] != (1, n):
        raise ValueError(f"the encoder returned {tuple(result.shape)}")
    operations = counter.get_total_flops()
    if operations % 2:
        raise ValueError(f"an odd number of operations: {operations}")
    return operations // 2
