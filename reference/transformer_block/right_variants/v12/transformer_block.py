"""The transformer block; a norm that is not there is None."""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn


class TransformerBlock(nn.Module):
    """Sums go into what the sublayer returned, never into x."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.drop_ = nn.Dropout(dropout, inplace=True)
        self.norm1 = None if norm == "none" else LayerNorm(d_model)
        self.norm2 = None if norm == "none" else LayerNorm(d_model)
        self.norm = norm

    def forward(self, x, mask=None):
        """Two sums."""
        if self.norm not in {"pre", "post", "none"}:
            raise ValueError(f"norm={self.norm!r}")
        first = self.norm1 is not None and self.norm == "pre"
        last = self.norm1 is not None and self.norm == "post"
        y = self.attention(self.norm1(x) if first else x, mask)[0]
        x = torch.add(x, self.drop_(y))
        if last:
            x = self.norm1(x)
        y = self.feed_forward(self.norm2(x) if first else x)
        x = self.drop_(y).add_(x)
        return self.norm2(x) if last else x
