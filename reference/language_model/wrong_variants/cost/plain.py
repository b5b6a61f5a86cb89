"""What an encoder costs, in multiplications."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def projection_cost(n, d):
    """Count a matrix of d times d for every token, four times."""
    return 4 * n * d**2


def attention_cost(n, d):
    """Count both products of every pair of tokens."""
    return 2 * d * n**2


def feed_forward_cost(n, d, f):
    """Count the way in and the way out."""
    return n * d * f + n * f * d


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
