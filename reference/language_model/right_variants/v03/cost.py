"""In loops: what is multiplied is counted, where that does not take for ever."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def product(*sizes):
    """Multiply sizes."""
    result = 1
    for size in sizes:
        result *= size
    return result


def projection_cost(n, d):
    """One projection after the other."""
    total = 0
    for _ in ("query", "key", "value", "output"):
        total += product(n, d, d)
    return total


def attention_cost(n, d):
    """Row by row of the scores, twice."""
    total = 0
    for _ in range(n):
        total += product(n, d)
        total += product(n, d)
    return total


def feed_forward_cost(n, d, f):
    """Token by token."""
    total = 0
    for _ in range(n):
        total += d * f
        total += f * d
    return total


def encoder_cost(n, d, f, layers):
    """Block by block."""
    total = 0
    for _ in range(layers):
        for part in (projection_cost(n, d), attention_cost(n, d), feed_forward_cost(n, d, f)):
            total += part
    return total


def meeting_length(d, f):
    """Try one length after the other."""
    n = 1
    while product(2, n, n, d) < product(4, n, d, d) + product(2, n, d, f):
        n += 1
    return n


def counted_cost(encoder: Encoder, n: int) -> int:
    """Add up what torch counted, operation by operation."""
    counter = FlopCounterMode(display=False)
    with counter:
        encoder(torch.tensor([[0 for _ in range(n)]]))
    total = 0
    for count in counter.get_flop_counts().get("Global", {}).values():
        total += count
    return total // 2
