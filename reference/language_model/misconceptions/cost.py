"""The cost of a transformer with mistakes to enable; with none enabled, it is right."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "three_projections": (
        "you counted three projections; there are four, with the output projection",
        "session, knowledge point 5",
    ),
    "one_projection": (
        "you counted one projection; queries, keys, values and output have one each",
        "session, knowledge point 5",
    ),
    "projections_square_tokens": (
        "you exchanged n and d in the projections; a (d, d) matrix is applied to each of n tokens",
        "session, knowledge point 5",
    ),
    "scores_alone": (
        "you counted one of attention's two products; scores and weighted sums cost n²d each",
        "session, knowledge point 5",
    ),
    "attention_square_features": (
        "you exchanged n and d in attention; there are n² pairs of tokens with d multiplications "
        "each",
        "session, knowledge point 5",
    ),
    "pairs_without_features": (
        "you counted the pairs of tokens in attention; each pair takes d multiplications",
        "session, knowledge point 5",
    ),
    "causal_attention": (
        "you counted about half of the pairs, those that a causal mask allows; all n² pairs count, "
        "because masked scores are computed too",
        "session, knowledge point 5",
    ),
    "one_linear": (
        "you counted one of the two linear layers; count linear1 and linear2",
        "session, knowledge point 5",
    ),
    "four_times_d": (
        "you used 4d for the features inside the feed-forward layer; use the argument f",
        "session, knowledge point 5",
    ),
    "squared_inside": (
        "you counted (f, f) layers; the two linear layers are (d, f) and (f, d)",
        "session, knowledge point 5",
    ),
    "additions_counted": (
        "your counts are twice as large, as if additions counted too; count multiplications only",
        "session, knowledge point 5",
    ),
    "layers_ignored": (
        "you counted one block for any number of layers; multiply by layers",
        "session, knowledge point 5",
    ),
    "projections_left_out": (
        "you left out the projections in encoder_cost; a block has projections, attention and a "
        "feed-forward layer",
        "session, knowledge point 5",
    ),
    "attention_left_out": (
        "you left out attention's products in encoder_cost; a block has projections, attention "
        "and a feed-forward layer",
        "session, knowledge point 5",
    ),
    "feed_forward_left_out": (
        "you left out the feed-forward layer in encoder_cost; every block has a feed-forward layer",
        "session, knowledge point 5",
    ),
    "feed_forward_once": (
        "you counted the feed-forward layer once for the whole encoder; every block has its own",
        "session, knowledge point 5",
    ),
    "feed_forward_alone_times_layers": (
        "you counted projections and attention once for the whole encoder; every block has its own",
        "session, knowledge point 5",
    ),
    "length_is_a_float": (
        "your meeting_length returns a float (/); it is a whole number of tokens, so use //",
        "handout",
    ),
    "count_is_a_float": (
        "your counted_cost returns a float (/ 2); it is a whole number, so use // 2",
        "handout",
    ),
    "meets_at_d": (
        "you compared n²d with nd² without their factors, which gives d; count every matrix "
        "product",
        "session, knowledge point 5",
    ),
    "meets_the_feed_forward": (
        "you compared attention with the feed-forward layer alone; compare it with projections "
        "and feed-forward layer together",
        "session, knowledge point 5",
    ),
    "meets_the_projections": (
        "you compared attention with the projections alone; compare it with projections and "
        "feed-forward layer together",
        "session, knowledge point 5",
    ),
    "strictly_more": (
        "your length is one token too large; at 2d + f tokens both sides cost the same, and that "
        "is enough",
        "session, knowledge point 5",
    ),
    "operations_not_halved": (
        "you returned twice the right count; torch counts an addition with every multiplication, "
        "so divide by 2, and give it one sequence",
        "session, knowledge point 5",
    ),
    "sequences_of_one": (
        "you counted n sequences of one token; count one sequence of n tokens, a tensor of shape "
        "(1, n)",
        "session, knowledge point 5",
    ),
    "backward_counted": (
        "you counted a backward pass too; count the forward pass only",
        "session, knowledge point 5",
    ),
    "weights_times_tokens": (
        "you multiplied the number of weights by the number of tokens; attention's products have "
        "no weights, and an embedding lookup has no products",
        "session, knowledge point 5",
    ),
    "ids_beyond_vocabulary": (
        "you called the encoder with the ids 0 to n - 1; the vocabulary may have fewer than n "
        "words",
        "session, knowledge point 5",
    ),
    "encoder_left_in_evaluation": (
        "you left the encoder in evaluation mode; restore the mode that it had, or do not change "
        "it",
        "handout",
    ),
    "biases_counted": (
        "you counted the additions of the biases in the feed-forward layer; count "
        "multiplications only",
        "session, knowledge point 5",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def _counted(products: int) -> int:
    """Count so many multiplications."""
    return 2 * products if wrong("additions_counted") else products


def projection_cost(n: int, d: int) -> int:
    """Count for the four projections of attention."""
    projections = 4
    if wrong("three_projections"):
        projections = 3
    elif wrong("one_projection"):
        projections = 1
    each = n * n * d if wrong("projections_square_tokens") else n * d * d
    return _counted(projections * each)


def attention_cost(n: int, d: int) -> int:
    """Count for the scores and for the weighted sums of the values."""
    products = 1 if wrong("scores_alone") else 2
    pairs = n * (n + 1) // 2 if wrong("causal_attention") else n * n
    each = pairs if wrong("pairs_without_features") else pairs * d
    if wrong("attention_square_features"):
        each = n * d * d
    return _counted(products * each)


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count for the two linear layers of the feed-forward layer."""
    inside = 4 * d if wrong("four_times_d") else f
    layers = 1 if wrong("one_linear") else 2
    each = n * inside * inside if wrong("squared_inside") else n * d * inside
    if wrong("biases_counted"):
        return layers * each + n * inside + n * d
    return _counted(layers * each)


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count for all blocks of an encoder."""
    parts = []
    if not wrong("projections_left_out"):
        parts.append(projection_cost(n, d))
    if not wrong("attention_left_out"):
        parts.append(attention_cost(n, d))
    blocks = 1 if wrong("layers_ignored") else layers
    if wrong("feed_forward_left_out"):
        return blocks * sum(parts)
    if wrong("feed_forward_once"):
        return blocks * sum(parts) + feed_forward_cost(n, d, f)
    if wrong("feed_forward_alone_times_layers"):
        return sum(parts) + blocks * feed_forward_cost(n, d, f)
    return blocks * (sum(parts) + feed_forward_cost(n, d, f))


def meeting_length(d: int, f: int) -> int:
    """Return the number of tokens from which on attention costs as much as all else in a block."""
    length = 2 * d + f
    if wrong("meets_at_d"):
        length = d
    elif wrong("meets_the_feed_forward"):
        length = f
    elif wrong("meets_the_projections"):
        length = 2 * d
    if wrong("length_is_a_float"):
        return float(length)
    return length + 1 if wrong("strictly_more") else length


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count what an encoder multiplies for one sequence of n tokens."""
    if wrong("weights_times_tokens"):
        return n * sum(parameter.numel() for parameter in encoder.parameters())
    if wrong("encoder_left_in_evaluation"):
        encoder.eval()
    shape = (n, 1) if wrong("sequences_of_one") else (1, n)
    token_ids = torch.zeros(shape, dtype=torch.long)
    if wrong("ids_beyond_vocabulary"):
        token_ids = torch.arange(n).reshape(shape)
    counter = FlopCounterMode(display=False)
    with counter:
        answer = encoder(token_ids)
        if wrong("backward_counted"):
            answer.sum().backward()
    operations = counter.get_total_flops()
    if wrong("count_is_a_float"):
        return operations / 2
    return operations if wrong("operations_not_halved") else operations // 2
