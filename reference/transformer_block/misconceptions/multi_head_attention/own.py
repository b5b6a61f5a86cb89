"""Multi-head attention with its own softmax: what mistakes change is written out here."""

import math

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Self-attention with H heads of D / H features each, joined by an output projection."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if num_heads < 1 or d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Apply attention to `x` (B, T, D), in every head separately."""
        batch, seq_len, d_model = x.shape
        query = self._split(self.q_linear(x))  # (B, H, T, D/H)
        key = self._split(self.k_linear(x))  # (B, H, T, D/H)
        value = self._split(self.v_linear(x))  # (B, H, T, D/H)
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, T)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)  # (B, 1, T, T), the same for every head
            scores = scores.masked_fill(~mask, float("-inf"))  # (B, H, T, T)
        weights = torch.softmax(scores, dim=-1)  # (B, H, T, T)
        mixed = weights @ value  # (B, H, T, D/H)
        joined = mixed.transpose(1, 2).reshape(batch, seq_len, d_model)  # (B, T, D)
        output = self.out_proj(joined)  # (B, T, D)
        return output, weights

    def _split(self, features: Tensor) -> Tensor:
        """Divide the features (B, T, D) among the heads: (B, H, T, D / H)."""
        batch, seq_len, d_model = features.shape
        size = d_model // self.num_heads
        return features.reshape(batch, seq_len, self.num_heads, size).transpose(1, 2)
