# misconception: weights_times_tokens
"""By the number of parameters."""

from encoder import Encoder


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
    """Count every weight once for each token."""
    total = 0
    for _, weight in encoder.named_parameters():
        total += weight.shape.numel() * n
    return total
