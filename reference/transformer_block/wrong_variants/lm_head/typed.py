"""Tied language-modelling head.

The weight matrix of the embedding is reused as the output projection.
"""

from typing import Any

import torch
from torch import nn


def stable_softmax(scores: torch.Tensor, dim: int) -> torch.Tensor:
    highest = torch.max(scores, dim=dim, keepdim=True).values
    exponentials = torch.exp(scores - highest)
    return exponentials / torch.sum(exponentials, dim=dim, keepdim=True)


class TiedLMHead(nn.Module):
    """Maps hidden states back to the vocabulary."""

    def __init__(self, embedding: nn.Embedding, **unused: Any) -> None:
        super().__init__()
        self.embedding = nn.Module()
        self.embedding.weight = embedding.weight

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.einsum("btd,vd->btv", hidden, self.embedding.weight)

    def next_token_probabilities(self, hidden: torch.Tensor) -> torch.Tensor:
        final_state = hidden.select(1, hidden.shape[1] - 1).unsqueeze(1)
        scores = self(final_state).squeeze(1)
        return stable_softmax(scores, dim=1)
