"""The costs, read off the letters of the products as einsum writes them."""

import torch
from encoder import Encoder
from torch.utils.flop_counter import FlopCounterMode

PROJECTIONS = ("nd,ed->ne",) * 4
PRODUCTS = ("id,jd->ij", "ij,jd->id")
LAYERS = ("nd,fd->nf", "nf,df->nd")


def _cost(equations, **sizes):
    """Multiply the sizes of all letters of each equation, and add up."""
    total = 0
    for equation in equations:
        count = 1
        for letter in sorted(set(equation) - set(",->")):
            count *= sizes[letter]
        total += count
    return total


def projection_cost(n: int, d: int) -> int:
    """Count the projections."""
    return _cost(PROJECTIONS, n=n, d=d, e=d)


def attention_cost(n: int, d: int) -> int:
    """Count scores and sums."""
    return _cost(PRODUCTS, i=n, j=n, d=d)


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count the feed-forward layer."""
    return _cost(LAYERS, n=n, d=d, f=f)


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count all blocks."""
    block = _cost(PROJECTIONS + PRODUCTS + LAYERS, n=n, d=d, f=f, e=d, i=n, j=n)
    return block * layers


def meeting_length(d: int, f: int) -> int:
    """Divide what grows with n by what grows with its square."""
    per_token = _cost(PROJECTIONS + LAYERS, n=1, d=d, e=d, f=f)
    per_pair = _cost(PRODUCTS, i=1, j=1, d=d)
    return -(-per_token // per_pair)


def counted_cost(encoder: Encoder, n: int) -> int:
    """Count with torch, by operator."""
    words = torch.randint(encoder.token_embedding.num_embeddings, (1, n))
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        encoder(words)
    return sum(counter.get_flop_counts()["Global"].values()) // 2
