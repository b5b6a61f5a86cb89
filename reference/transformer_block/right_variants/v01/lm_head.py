"""Logits with the embedding's own matrix."""

from torch import nn


def logits(hidden, table):
    """Score every row of the table."""
    return hidden @ table.mT


class TiedLMHead(nn.Module):
    """No weights of its own."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        """(B, T, D) -> (B, T, V)."""
        return logits(hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden):
        """(B, T, D) -> (B, V)."""
        return self(hidden)[..., -1, :].softmax(-1)
