"""What it costs: multiplications of attention and of the feed-forward layer.

Counted are the multiplications of numbers in matrix products, for one sequence; all else is small
beside them. n is the number of tokens, d that of features, f that of features inside the
feed-forward layer.

Source: session, knowledge point 5 (computation complexity).
"""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode


def projection_cost(n: int, d: int) -> int:
    """Count for the four projections of attention: queries, keys, values and output."""
    ### BEGIN SOLUTION
    return 4 * n * d * d
    ### END SOLUTION


def attention_cost(n: int, d: int) -> int:
    """Count for the scores and for the weighted sums of the values, all heads together."""
    ### BEGIN SOLUTION
    return 2 * n * n * d
    ### END SOLUTION


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count for the two linear layers of the feed-forward layer."""
    ### BEGIN SOLUTION
    return 2 * n * d * f
    ### END SOLUTION


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count for all blocks of an encoder."""
    ### BEGIN SOLUTION
    # equivalent: `n, d -> d, n (3)`, `d, f -> f, d`: 2ndf is the same in any order
    block = projection_cost(n, d) + attention_cost(n, d) + feed_forward_cost(n, d, f)
    return layers * block
    ### END SOLUTION


def meeting_length(d: int, f: int) -> int:
    """Return how many tokens make a block's attention cost at least as much as all else in it.

    That is the smallest n for which the scores and weighted sums together cost at least as much as
    the projections and the feed-forward layer together.
    """
    ### BEGIN SOLUTION
    return 2 * d + f
    ### END SOLUTION


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count what an encoder of yours multiplies for one sequence of n tokens, by torch's counter.

    torch's `FlopCounterMode` counts a multiplication and the addition after it as two operations.

    Args:
        encoder: for at least n tokens, on the CPU, of any vocabulary. It is left as it was, in the
            mode that it was in.
        n: number of tokens; which ones makes no difference.
    """
    ### BEGIN SOLUTION
    counter = FlopCounterMode(display=False)
    with counter, torch.no_grad():
        # equivalent: `zeros -> ones`: which words they are makes no difference
        encoder(torch.zeros(1, n, dtype=torch.long))
    return counter.get_total_flops() // 2
    ### END SOLUTION
