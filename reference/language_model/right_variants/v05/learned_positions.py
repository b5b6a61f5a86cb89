"""Learned positions as a kind of nn.Embedding."""

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Embedding):
    """An embedding of positions: the key is `weight`, as asked for."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__(num_embeddings=max_len, embedding_dim=d_model)
        with torch.no_grad():
            self.weight.mul_(0.02)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the vectors to x (B, T, D)."""
        positions = torch.arange(x.size(1), device=self.weight.device)
        if positions.numel() > self.num_embeddings:
            raise ValueError(
                f"{positions.numel()} tokens exceed the {self.num_embeddings} positions"
            )
        return x + super().forward(positions)[None]
