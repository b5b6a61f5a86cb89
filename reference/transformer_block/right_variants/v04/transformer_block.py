"""Transformer block with handmade dropout."""

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from pieces import Drop
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """The flags say where a norm is applied."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm: str = "pre",
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.before = norm == "pre"
        self.after = norm == "post"
        if not (self.before or self.after or norm == "none"):
            raise ValueError(f"norm cannot be {norm}")
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.drop1 = Drop(dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias=bias)
        self.drop2 = Drop(dropout)
        if self.before or self.after:
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """(B, T, D) -> (B, T, D)."""
        h = self.norm1(x) if self.before else x
        h = x + self.drop1(self.attention(h, mask)[0])
        h = self.norm1(h) if self.after else h

        y = self.norm2(h) if self.before else h
        y = h + self.drop2(self.feed_forward(y))
        return self.norm2(y) if self.after else y
