"""Language modelling head: a tensor contraction with the embedding."""

import torch
from torch import nn


class TiedLMHead(nn.Module):
    """Holds the embedding it was given."""

    def __init__(self, embedding: nn.Embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden):
        """Contract the features: (B, T, D) x (V, D) -> (B, T, V)."""
        return torch.tensordot(hidden, self.embedding.weight, dims=([-1], [-1]))

    def next_token_probabilities(self, hidden):
        """Log probabilities first, (B, V)."""
        scores = torch.mm(hidden.select(1, -1), self.embedding.weight.t())
        return torch.log_softmax(scores, dim=-1, dtype=torch.float64).exp().to(hidden.dtype)
