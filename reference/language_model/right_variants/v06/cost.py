"""Counted by torch where that can be: products on the meta device, which computes nothing."""

import functools

import torch
import torch.nn.functional as F
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def _counted(compute):
    """Return half of the operations that torch counts."""
    with FlopCounterMode(display=False) as counter:
        compute()
    return counter.get_total_flops() // 2


def _linear(n, inner, outer):
    x = torch.empty(n, inner, device="meta")
    return _counted(functools.partial(F.linear, x, torch.empty(outer, inner, device="meta")))


def projection_cost(n: int, d: int) -> int:
    """Count one of the four."""
    return 4 * _linear(n, d, d)


def attention_cost(n: int, d: int) -> int:
    """Count scores and sums."""
    return _linear(n, d, n) + _linear(n, n, d)


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count both layers."""
    return _linear(n, d, f) + _linear(n, f, d)


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count a block, and multiply."""
    parts = projection_cost(n, d), attention_cost(n, d), feed_forward_cost(n, d, f)
    return layers * sum(parts)


def meeting_length(d: int, f: int) -> int:
    """Divide both sides by 2nd."""
    return f + 2 * d


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count the encoder."""
    return _counted(functools.partial(encoder, torch.zeros(1, n, dtype=torch.long)))
