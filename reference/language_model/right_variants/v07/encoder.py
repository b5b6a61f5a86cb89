"""The encoder, defensively: every argument is looked at, and the norm is computed in float32."""

from __future__ import annotations

import copy

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import Tensor, nn


class CarefulNorm(nn.LayerNorm):
    """A norm in float32, whatever comes in."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the dtype of x."""
        weight, bias = self.weight.float(), self.bias.float()
        found = nn.functional.layer_norm(x.float(), self.normalized_shape, weight, bias, self.eps)
        return found.to(x.dtype)


class Encoder(nn.Module):
    """A stack of equal blocks."""

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
        if not isinstance(norm, str) or norm not in ("pre", "post"):
            raise ValueError(f'norm has to be "pre" or "post", it is {norm!r}')
        if num_layers < 0:
            raise ValueError("there cannot be fewer than 0 blocks")
        self.max_len = max_len
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        pattern = TransformerBlock(d_model, num_heads, d_ff, dropout, norm)
        # Copies start alike, and learn apart.
        self.blocks = nn.ModuleList([copy.deepcopy(pattern) for _ in range(num_layers)])
        self.final_norm = CarefulNorm(d_model) if norm == "pre" else nn.Identity()

    def _checked(self, token_ids: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor | None]:
        if token_ids.dim() != 2:
            raise ValueError(f"token_ids has {token_ids.dim()} dimensions, not 2")
        batch, length = token_ids.shape
        if length > self.max_len:
            raise ValueError(f"{length} tokens are more than {self.max_len}")
        if mask is None:
            return token_ids.long(), None
        if mask.dtype != torch.bool:
            raise TypeError("the mask has to be boolean")
        return token_ids.long(), mask.expand(batch, length, length)

    def _entries(self, token_ids: Tensor, mask: Tensor | None) -> list[Tensor]:
        token_ids, mask = self._checked(token_ids, mask)
        entries = [self.positions(self.token_embedding(token_ids))]
        for block in self.blocks:
            entries.append(block(entries[-1].clone(), mask))
        return entries

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, T, D)."""
        return self.final_norm(self._entries(token_ids, mask)[-1])

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (N + 1, B, T, D)."""
        return torch.stack([entry.detach() for entry in self._entries(token_ids, mask)])
