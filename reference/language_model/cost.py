"""The cost of an encoder: multiplications in projections, attention and feed-forward layers.

Only the multiplications in matrix products count, for one sequence; everything else is small in
comparison. n is the number of tokens, d the number of features, f the number of features inside the
feed-forward layer.

Source: session, knowledge point 5 (computation complexity).
"""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def projection_cost(n: int, d: int) -> int:
    """Return the cost of the four projections of attention: queries, keys, values and output."""
    ### BEGIN SOLUTION
    return 4 * n * d * d
    ### END SOLUTION


def attention_cost(n: int, d: int) -> int:
    """Return the cost of scores and weighted sums of the values, all heads together."""
    ### BEGIN SOLUTION
    return 2 * n * n * d
    ### END SOLUTION


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Return the cost of the two linear layers of the feed-forward layer."""
    ### BEGIN SOLUTION
    return 2 * n * d * f
    ### END SOLUTION


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Return the cost of all blocks of an encoder."""
    ### BEGIN SOLUTION
    # equivalent: 2ndf is the same in any order
    block = projection_cost(n, d) + attention_cost(n, d) + feed_forward_cost(n, d, f)
    return layers * block
    ### END SOLUTION


def meeting_length(d: int, f: int) -> int:
    """Return the smallest n at which attention costs at least as much as the rest of a block.

    Attention is `attention_cost`; the rest is `projection_cost` plus `feed_forward_cost`.
    """
    ### BEGIN SOLUTION
    # Attention 2 n^2 d is at least the rest, 4 n d^2 + 2 n d f, where n is at least 2 d + f.
    return 2 * d + f
    ### END SOLUTION


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count your encoder's multiplications for one sequence of n tokens, with `FlopCounterMode`.

    torch's `FlopCounterMode` counts a multiplication and the addition after it as two operations.

    Args:
        encoder: an encoder on the CPU, for at least n tokens, with any vocabulary. Its weights and
            its mode do not change.
        n: number of tokens; any token ids will do.
    """
    ### BEGIN SOLUTION
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        # equivalent: which words they are makes no difference
        encoder(torch.zeros(1, n, dtype=torch.long))
    return counter.get_total_flops() // 2
    ### END SOLUTION
