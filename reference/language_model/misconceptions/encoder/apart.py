"""The encoder with the blocks once in each method: a mistake may be in one of the two alone."""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import Tensor, nn


class Encoder(nn.Module):
    """Embeddings of tokens and positions, then a stack of transformer blocks."""

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
        if norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", not {norm!r}')
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)
        )
        self.final_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute a vector for every token (B, T, D)."""
        x = self.positions(self.token_embedding(token_ids))  # (B, T, D)
        for block in self.blocks:
            x = block(x, mask)  # (B, T, D)
        return self.final_norm(x)

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute the residual stream (N + 1, B, T, D)."""
        entry = self.positions(self.token_embedding(token_ids))  # (B, T, D)
        seen = [entry]
        for block in self.blocks:
            entry = block(entry, mask)  # (B, T, D)
            seen.append(entry)
        return torch.stack(seen)  # (N + 1, B, T, D)
