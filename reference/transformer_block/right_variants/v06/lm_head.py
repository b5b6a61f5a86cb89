"""Language modelling head: F.linear with the table of F.embedding."""

import torch.nn.functional as F
from torch import nn


class TiedLMHead(nn.Module):
    """Read forwards by the embedding, backwards by the head."""

    def __init__(self, embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        """(B, T, D) -> (B, T, V)."""
        return F.linear(hidden, weight=self.embedding.weight)

    def next_token_probabilities(self, hidden):
        """The softmin of the negative logits, last position, (B, V)."""
        *_, last = hidden.unbind(dim=1)
        return F.softmin(-self(last), dim=-1)
