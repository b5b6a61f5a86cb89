"""Transformer block: the result is the input plus everything that was written to the stream."""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn


class TransformerBlock(nn.Module):
    """Sublayers read from the stream and write to it."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm: str = "pre",
        activation: str = "relu",
        bias: bool = True,
    ):
        if norm not in {"pre", "post", "none"}:
            raise ValueError(f"unknown norm {norm!r}")
        super().__init__()
        self.norm = norm
        self.dropout = dropout
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)

    def read(self, stream, number: int):
        """What a sublayer sees."""
        return getattr(self, f"norm{number}")(stream) if self.norm == "pre" else stream

    def write(self, stream, update, number: int):
        """Add to the stream."""
        stream = torch.add(stream, torch.dropout(update, self.dropout, self.training))
        return getattr(self, f"norm{number}")(stream) if self.norm == "post" else stream

    def forward(self, x, mask=None):
        """(B, T, D) -> (B, T, D)."""
        update, _ = self.attention(self.read(x, 1), mask)
        x = self.write(x, update, 1)
        update = self.feed_forward(self.read(x, 2))
        return self.write(x, update, 2)
