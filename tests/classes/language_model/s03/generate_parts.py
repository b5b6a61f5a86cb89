"""A helper module: the steps from logits to a word."""

import torch


def checked(temperature, top_k, top_p):
    """Refuse what makes no sense."""
    problems = [
        (temperature < 0, f"temperature {temperature}"),
        (top_k is not None and top_k < 1, f"top_k {top_k}"),
        (top_p is not None and not 0 < top_p <= 1, f"top_p {top_p}"),
    ]
    for wrong, words in problems:
        if wrong:
            raise ValueError(words)


def likeliest(logits, top_k):
    """Leave the likeliest words, and minus infinity for the others."""
    top_k = min(top_k, logits.size(-1))
    values, words = logits.topk(top_k, dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, words, values)


def nucleus(shares, top_p):
    """Leave the smallest set of words that together reach top_p."""
    values, words = shares.sort(dim=-1, descending=True)
    reached = values.cumsum(dim=-1) >= top_p
    beyond = reached.roll(1, dims=-1)
    beyond[..., 0] = False
    kept = torch.zeros_like(shares).scatter(-1, words, values.masked_fill(beyond, 0))
    return kept / kept.sum(dim=-1, keepdim=True)


def draw(shares):
    """Draw a word for every row."""
    return torch.distributions.Categorical(probs=shares).sample()
