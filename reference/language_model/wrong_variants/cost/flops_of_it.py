# misconception: additions_counted
"""Every multiplication has its addition."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode

OPERATIONS = 2


def projection_cost(n, d):
    """Count the operations of four layers."""
    return OPERATIONS * 4 * n * d * d


def attention_cost(n, d):
    """Count the operations of both products."""
    return OPERATIONS * 2 * n * n * d


def feed_forward_cost(n, d, f):
    """Count the operations of two layers."""
    return OPERATIONS * 2 * n * d * f


def encoder_cost(n, d, f, layers):
    """Add up the blocks."""
    return layers * (projection_cost(n, d) + attention_cost(n, d) + feed_forward_cost(n, d, f))


def meeting_length(d, f):
    """Solve 2n²d = 4nd² + 2ndf for n."""
    return 2 * d + f


def counted_cost(encoder: Encoder, n: int) -> int:
    """Have torch count."""
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        encoder(torch.zeros(1, n, dtype=torch.int64))
    return counter.get_total_flops() // 2
