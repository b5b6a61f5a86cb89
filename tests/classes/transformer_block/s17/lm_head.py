"""Exercise: the language modelling head."""
import torch
from torch import Tensor, nn


class TiedLMHead(nn.Module):
    """Scores every word of the vocabulary with the transposed embedding matrix."""

    def __init__(self, embedding: nn.Embedding):
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden: Tensor) -> Tensor:
        """hidden: (B, T, D) -> (B, T, V)"""
        return torch.matmul(hidden, self.embedding.weight.transpose(0, 1))

    def next_token_probabilities(self, hidden: Tensor) -> Tensor:
        """hidden: (B, T, D) -> (B, V)"""
        logits = self.forward(hidden)
        return torch.softmax(logits[:, -1, :], dim=-1)
