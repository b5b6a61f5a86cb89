"""The language model: an encoder with a causal mask, and its own embedding as the head.

Source: slides, pages 28 to 31.
"""

import torch
import torch.nn.functional as F
from encoder import Encoder
from provided.blocks import causal_mask
from torch import Tensor, nn


class LanguageModel(nn.Module):
    """Predict the next word at every position.

    Parameters, by their `state_dict` keys:
        encoder.*: those of `Encoder` with norm "pre". There are no others: the head uses
        `encoder.token_embedding.weight`.

    Source: slides, pages 28 to 31.
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
    ) -> None:
        """Make the encoder; its arguments are the same."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, token_ids: Tensor) -> Tensor:
        """Compute the logits of every word as the next word, at every position.

        Args:
            token_ids: integer tensor of shape (B, T).

        Returns:
            The logits (B, T, V); the logits at position t depend on the tokens 0 to t only.

        Raises:
            ValueError: T is greater than `max_len`.

        Source: slides, pages 28 and 30.
        """
        # Your code here.
        raise NotImplementedError


def next_token_loss(logits: Tensor, token_ids: Tensor, pad_id: int | None = None) -> Tensor:
    """Compute the mean cross-entropy of the next tokens.

    Args:
        logits: tensor of shape (B, T, V); the logits at position t predict the token at t + 1.
        token_ids: integer tensor of shape (B, T).
        pad_id: the id of padding; a position whose next token is `pad_id` does not count. None:
            every position counts.

    Returns:
        Tensor of shape (): the mean cross-entropy (natural logarithm) of all positions that count,
        of all sequences together.

    Raises:
        ValueError: no position counts.

    Source: slides, page 28.
    """
    # Your code here.
    raise NotImplementedError


def perplexity(loss: Tensor) -> Tensor:
    """Compute e^loss, the number of equally likely words that would give this loss."""
    # Your code here.
    raise NotImplementedError
