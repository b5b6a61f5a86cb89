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
    # Your code here.
    raise NotImplementedError


def attention_cost(n: int, d: int) -> int:
    """Count for the scores and for the weighted sums of the values, all heads together."""
    # Your code here.
    raise NotImplementedError


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count for the two linear layers of the feed-forward layer."""
    # Your code here.
    raise NotImplementedError


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count for all blocks of an encoder."""
    # Your code here.
    raise NotImplementedError


def meeting_length(d: int, f: int) -> int:
    """Return how many tokens make a block's attention cost at least as much as all else in it.

    That is the smallest n for which the scores and weighted sums together cost at least as much as
    the projections and the feed-forward layer together.
    """
    # Your code here.
    raise NotImplementedError


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count what an encoder of yours multiplies for one sequence of n tokens, by torch's counter.

    torch's `FlopCounterMode` counts a multiplication and the addition after it as two operations.

    Args:
        encoder: for at least n tokens, on the CPU, of any vocabulary. It is left as it was, in the
            mode that it was in.
        n: number of tokens; which ones makes no difference.
    """
    # Your code here.
    raise NotImplementedError
