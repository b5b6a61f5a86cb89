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
    # Your code here.
    raise NotImplementedError


def attention_cost(n: int, d: int) -> int:
    """Return the cost of scores and weighted sums of the values, all heads together."""
    # Your code here.
    raise NotImplementedError


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Return the cost of the two linear layers of the feed-forward layer."""
    # Your code here.
    raise NotImplementedError


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Return the cost of all blocks of an encoder."""
    # Your code here.
    raise NotImplementedError


def meeting_length(d: int, f: int) -> int:
    """Return the smallest n at which attention costs at least as much as the rest of a block.

    Attention is `attention_cost`; the rest is `projection_cost` plus `feed_forward_cost`.
    """
    # Your code here.
    raise NotImplementedError


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count your encoder's multiplications for one sequence of n tokens, with `FlopCounterMode`.

    torch's `FlopCounterMode` counts a multiplication and the addition after it as two operations.

    Args:
        encoder: an encoder on the CPU, for at least n tokens, with any vocabulary. Its weights and
            its mode do not change.
        n: number of tokens; any token ids will do.
    """
    # Your code here.
    raise NotImplementedError
