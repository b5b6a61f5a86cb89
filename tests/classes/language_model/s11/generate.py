"""Writing on: from logits to probabilities, and from a prompt to a text.

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
    """Turn logits into the probabilities to draw the next token from.

    Args:
        logits: tensor of shape (..., V).
        temperature: what the logits are divided by; 0 gives the likeliest word everything.
        top_k: only so many of the likeliest words stay; None, or more than V, keeps all.
        top_p: of what is left, with probabilities that sum to 1 again, only the likeliest words
            stay, as few as together have at least this probability; None keeps all.

    Returns:
        Tensor of shape (..., V), of the dtype of `logits`: 0 for words that do not stay, and every
        row sums to 1.

    Raises:
        ValueError: the temperature is negative, `top_k` is below 1, or `top_p` is not above 0 and
            at most 1.
    """
    # Your code here.
    raise NotImplementedError


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
    """Write on from every prompt, token by token, each drawn with torch's generator.

    Args:
        model: maps token ids (B, T) to logits (B, T, V). It is asked in evaluation mode and under
            `torch.no_grad()` or the like, and is left in the mode that it was in.
        prompt: int64 tensor of shape (B, T), T at least 1.
        max_new_tokens: at most so many tokens are added.
        temperature, top_k, top_p: as for `next_probabilities`.
        end_id: once a sequence has drawn this token (in a prompt it is a token like others), all
            that follows in it is this token; when every sequence has, nothing more is added. None
            if there is no such token.
        max_len: the model is shown the last `max_len` tokens at most; None shows all.

    Returns:
        int64 tensor of shape (B, T + n), n at most `max_new_tokens`: the prompts, whole, each with
        what was added.

    Source: slides, page 28.
    """
    # Your code here.
    raise NotImplementedError
