"""Generating text: from logits to probabilities, and from a prompt to a text.

Source: slides, page 28.
"""

import torch
from torch import Tensor, nn


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Turn logits into the probabilities of the next token.

    Args:
        logits: tensor of shape (..., V).
        temperature: the logits are divided by it; 0 gives the most likely word probability 1.
        top_k: number of most likely words to keep; None, or more than V, keeps all.
        top_p: then keep the smallest number of most likely words whose probabilities, renormalised
            after `top_k`, sum to at least `top_p`; None keeps all.

    Returns:
        Tensor of shape (..., V) with the dtype of `logits`: every row sums to 1, and removed words
        have 0.

    Raises:
        ValueError: `temperature` is negative, `top_k` is below 1, or `top_p` is not above 0 and at
            most 1.
    """
    ### BEGIN SOLUTION
    if temperature < 0:
        raise ValueError(f"temperature must be 0 or more, not {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be 1 or more, not {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p}")
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)  # (..., 1)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    ordered, order = (logits / temperature).sort(descending=True)  # (..., V)
    if top_k is not None:
        ordered[..., top_k:] = float("-inf")
    probabilities = torch.softmax(ordered, dim=-1)  # (..., V)
    if top_p is not None:
        # A word stays if those before it have not reached top_p yet; the first one always does.
        before = probabilities.cumsum(dim=-1) - probabilities
        # equivalent: sums that are exactly top_p are not asked with
        probabilities = probabilities.masked_fill(before >= top_p, 0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    # Back from the order of the probabilities to that of the vocabulary.
    return probabilities.scatter(-1, order, probabilities)
    ### END SOLUTION


def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end_id: int | None = None,
    max_len: int | None = None,
) -> Tensor:
    """Continue every prompt token by token; each token is drawn with torch's generator.

    Args:
        model: maps token ids (B, T) to logits (B, T, V). It is called in evaluation mode and under
            `torch.no_grad()`; afterwards its mode is restored.
        prompt: int64 tensor of shape (B, T), T at least 1.
        max_new_tokens: largest number of tokens to add.
        temperature, top_k, top_p: as for `next_probabilities`.
        end_id: after a sequence draws this token, all its further tokens are `end_id`. Generation
            stops when every sequence has drawn it. In a prompt it has no effect. None: no such
            token.
        max_len: the model gets at most the last `max_len` tokens; None: all tokens.

    Returns:
        int64 tensor of shape (B, T + n), n at most `max_new_tokens`: each whole prompt, followed by
        its new tokens.

    Source: slides, page 28.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    tokens, ended = prompt, prompt.new_zeros(len(prompt), dtype=torch.bool)
    try:
        with torch.no_grad():
            for _ in range(max_new_tokens):
                seen = tokens if max_len is None else tokens[:, -max_len:]
                logits = model(seen)[:, -1]  # (B, V)
                probabilities = next_probabilities(logits, temperature, top_k, top_p)
                drawn = torch.multinomial(probabilities, 1).squeeze(-1)  # (B,)
                if end_id is not None:
                    drawn = drawn.masked_fill(ended, end_id)
                    ended = drawn == end_id
                tokens = torch.cat([tokens, drawn[:, None]], dim=1)
                if ended.all():
                    break
    finally:
        model.train(was_training)
    return tokens
    ### END SOLUTION
