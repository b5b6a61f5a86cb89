"""The classifier of the walkthrough: one block without norms, read at the first token.

Source: walkthrough, attention and feed_forward.
"""

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    """Make the mask that hides certain tokens from every query.

    Args:
        token_ids: integer tensor of shape (B, T).
        hidden_ids: ids of the hidden tokens, in the walkthrough CLS and PAD.

    Returns:
        Boolean tensor of shape (B, T, T), on the device of `token_ids`: in every row, False in the
        columns where the sequence has one of `hidden_ids` and True in the others.

    Source: walkthrough, attention, step 1.
    """
    # Your code here.
    raise NotImplementedError


class Classifier(nn.Module):
    """Classify sequences into two classes by the vector of their first token.

    Parameters, by their `state_dict` keys (there are no biases):
        embedding.weight: (V, D).
        attention.*: those of the provided `MultiHeadAttention`.
        feed_forward.*: those of the provided `FeedForward`, with GELU and without dropout.
        classifier.weight: (1, D).

    Source: walkthrough, introduction.
    """

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        """Make the parts for V words, D features, H heads and F inner features."""
        super().__init__()
        # Your code here.
        raise NotImplementedError

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute one logit for every sequence: above 0 for label 1, below 0 for label 0.

        Args:
            token_ids: integer tensor of shape (B, T); the first token of a sequence is CLS.
            mask: boolean tensor of shape (B, T, T), or None, for attention.

        Returns:
            Tensor of shape (B,): classifier.weight times the first token's vector after the block.
        """
        # Your code here.
        raise NotImplementedError

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """Compute all steps of the walkthrough.

        Args:
            token_ids, mask: as for `forward`.

        Returns:
            A dictionary with these entries, in this order:
            embedded (B, T, D); query, key, value (B, H, T, D/H), the three projections split into
            heads; attention_weights (B, H, T, T); attention_values (B, T, D), the weighted sums of
            all heads side by side; attention_output (B, T, D), after the last projection;
            after_attention (B, T, D), with the first residual connection; feed_forward_output
            (B, T, D); block_output (B, T, D), with the second residual connection; logits (B,).

        Source: walkthrough, attention, steps 1 to 3; feed_forward.
        """
        # Your code here.
        raise NotImplementedError


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean binary cross-entropy of the logits.

    Args:
        logits: tensor of shape (B,); sigmoid(logits) are the probabilities of label 1.
        labels: tensor of shape (B,), each 0 or 1, integer or boolean.

    Returns:
        Tensor of shape () with the dtype of `logits`: the mean over the sequences of
        -ln(probability of the right label). It is finite for logits of any size.
    """
    # Your code here.
    raise NotImplementedError


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Compute the share of correctly predicted labels; a logit above 0 predicts label 1.

    Args:
        logits: tensor of shape (B,).
        labels: tensor of shape (B,), each 0 or 1, integer or boolean.
    """
    # Your code here.
    raise NotImplementedError
