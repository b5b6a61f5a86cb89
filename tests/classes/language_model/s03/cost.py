"""By the products that cost_parts.py names."""

import cost_parts
import torch
from encoder import Encoder
from torch.utils import flop_counter


def projection_cost(n: int, d: int) -> int:
    """Count the projections."""
    return cost_parts.total(cost_parts.projections(n, d))


def attention_cost(n: int, d: int) -> int:
    """Count scores and sums."""
    return cost_parts.total(cost_parts.attention(n, d))


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count both layers."""
    return cost_parts.total(cost_parts.feed_forward(n, d, f))


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count all blocks."""
    block = [
        *cost_parts.projections(n, d),
        *cost_parts.attention(n, d),
        *cost_parts.feed_forward(n, d, f),
    ]
    return cost_parts.total(block * layers)


def meeting_length(d: int, f: int) -> int:
    """Search by halving."""
    low, high = 0, 8 * (d + f)
    while high - low > 1:
        middle = (low + high) // 2
        rest = projection_cost(middle, d) + feed_forward_cost(middle, d, f)
        if attention_cost(middle, d) >= rest:
            high = middle
        else:
            low = middle
    return high


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count in evaluation mode, and go back."""
    mode = encoder.training
    encoder.eval()
    counter = flop_counter.FlopCounterMode(display=False)
    try:
        with counter, torch.no_grad():
            encoder(torch.zeros((1, n), dtype=torch.int64))
    finally:
        encoder.train(mode)
    return counter.get_total_flops() // 2
