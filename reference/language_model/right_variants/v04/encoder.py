"""The encoder; its parts are in a file of their own."""

import torch
from encoder_parts import Stack, end_of
from learned_positions import LearnedPositionalEmbedding
from torch import Tensor, nn


class Encoder(nn.Module):
    """Both embeddings below a stack, and its end above it."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
        norm: str = "pre",
    ) -> None:
        super().__init__()
        self.final_norm = end_of(norm, d_model)
        self.blocks = Stack(num_layers, d_model, num_heads, d_ff, dropout, norm)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        with torch.no_grad():
            self.token_embedding.weight.mul_(0.02)

    def _run(self, token_ids: Tensor, mask: Tensor | None, tell) -> Tensor:
        return self.blocks.visit(self.positions(self.token_embedding(token_ids)), mask, tell)

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Nobody listens to the stream."""
        return self.final_norm(self._run(token_ids, mask, lambda x: None))

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Every entry is kept."""
        seen: list[Tensor] = []
        self._run(token_ids, mask, seen.append)
        return torch.stack(seen)
