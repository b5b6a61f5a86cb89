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
        ### BEGIN SOLUTION
        self.encoder = Encoder(vocab_size, max_len, d_model, num_heads, d_ff, num_layers, dropout)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        # equivalent: the only other device at hand, torch's meta, takes a mask from the CPU
        mask = causal_mask(token_ids.size(1), device=token_ids.device)  # (T, T)
        hidden = self.encoder(token_ids, mask)  # (B, T, D)
        return hidden @ self.encoder.token_embedding.weight.T  # (B, T, V)
        ### END SOLUTION


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
    ### BEGIN SOLUTION
    targets = token_ids[:, 1:]  # (B, T - 1)
    predicted = logits[:, :-1]  # (B, T - 1, V)
    counts = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id
    if not counts.any():
        raise ValueError("no position counts")
    return F.cross_entropy(predicted[counts], targets[counts])
    ### END SOLUTION


def perplexity(loss: Tensor) -> Tensor:
    """Compute e^loss, the number of equally likely words that would give this loss."""
    ### BEGIN SOLUTION
    return loss.exp()
    ### END SOLUTION
