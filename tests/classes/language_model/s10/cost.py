"""As short as it can be."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def projection_cost(n, d):
    """Four matrices."""
    return 4 * n * d**2


def attention_cost(n, d):
    """Two products."""
    return 2 * n**2 * d


def feed_forward_cost(n, d, f):
    """Two layers."""
    return 2 * n * d * f


def encoder_cost(n, d, f, layers):
    """All of it, so many times."""
    return layers * 2 * n * d * (2 * d + n + f)


def meeting_length(d, f):
    """Where 2n²d is 4nd² + 2ndf."""
    return 2 * d + f


def counted_cost(encoder: Encoder, n: int) -> int:
    """Half of what torch counts."""
    with FlopCounterMode(display=False) as counter:
        encoder(torch.zeros(1, n, dtype=torch.long))
    return counter.get_total_flops() // 2
