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
    ### BEGIN SOLUTION
    visible = ~torch.isin(token_ids, token_ids.new_tensor(hidden_ids))  # (B, T)
    return visible[:, None, :].repeat(1, token_ids.size(1), 1)  # (B, T, T)
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        self.num_heads = num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=False)
        self.feed_forward = FeedForward(d_model, d_ff, 0.0, "gelu", bias=False)
        self.classifier = nn.Linear(d_model, 1, bias=False)
        ### END SOLUTION

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute one logit for every sequence: above 0 for label 1, below 0 for label 0.

        Args:
            token_ids: integer tensor of shape (B, T); the first token of a sequence is CLS.
            mask: boolean tensor of shape (B, T, T), or None, for attention.

        Returns:
            Tensor of shape (B,): classifier.weight times the first token's vector after the block.
        """
        ### BEGIN SOLUTION
        return self.trace(token_ids, mask)["logits"]  # (B,)
        ### END SOLUTION

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
        ### BEGIN SOLUTION
        embedded = self.embedding(token_ids)  # (B, T, D)
        head_size = embedded.size(-1) // self.num_heads
        attention = self.attention
        layers = (attention.q_linear, attention.k_linear, attention.v_linear)
        query, key, value = (
            layer(embedded)
            .unflatten(-1, (self.num_heads, head_size))
            .transpose(1, 2)  # (B, H, T, D/H)
            for layer in layers
        )
        scores = query @ key.transpose(-2, -1) / head_size**0.5  # (B, H, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], float("-inf"))
        weights = torch.softmax(scores, dim=-1)  # (B, H, T, T)
        values = (weights @ value).transpose(1, 2).flatten(2)  # (B, T, D)
        output = attention.out_proj(values)  # (B, T, D)
        after = embedded + output  # (B, T, D)
        fed = self.feed_forward(after)  # (B, T, D)
        block = after + fed  # (B, T, D)
        return {
            "embedded": embedded,
            "query": query,
            "key": key,
            "value": value,
            "attention_weights": weights,
            "attention_values": values,
            "attention_output": output,
            "after_attention": after,
            "feed_forward_output": fed,
            "block_output": block,
            "logits": self.classifier(block[:, 0]).squeeze(-1),  # (B,)
        }
        ### END SOLUTION


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the mean binary cross-entropy of the logits.

    Args:
        logits: tensor of shape (B,); sigmoid(logits) are the probabilities of label 1.
        labels: tensor of shape (B,), each 0 or 1, integer or boolean.

    Returns:
        Tensor of shape () with the dtype of `logits`: the mean over the sequences of
        -ln(probability of the right label). It is finite for logits of any size.
    """
    ### BEGIN SOLUTION
    return F.binary_cross_entropy_with_logits(logits, labels.to(logits.dtype))
    ### END SOLUTION


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Compute the share of correctly predicted labels; a logit above 0 predicts label 1.

    Args:
        logits: tensor of shape (B,).
        labels: tensor of shape (B,), each 0 or 1, integer or boolean.
    """
    ### BEGIN SOLUTION
    return ((logits > 0) == labels).double().mean().item()
    ### END SOLUTION
