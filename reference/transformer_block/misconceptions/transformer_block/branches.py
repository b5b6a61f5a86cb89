"""The transformer block with a branch for each norm: a mistake may be in some of them alone."""

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn


class TransformerBlock(nn.Module):
    """Two sublayers on a residual stream, with norms before or after them, or none."""

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
        if norm not in ("pre", "post", "none"):
            raise ValueError(f"norm must be pre, post or none, not {norm!r}")
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Pass `x` (B, T, D) through both sublayers."""
        if self.norm == "pre":
            attended, _ = self.attention(self.norm1(x), mask)
            x = x + self.dropout(attended)
            return x + self.dropout(self.feed_forward(self.norm2(x)))
        if self.norm == "post":
            attended, _ = self.attention(x, mask)
            x = self.norm1(x + self.dropout(attended))
            return self.norm2(x + self.dropout(self.feed_forward(x)))
        attended, _ = self.attention(x, mask)
        x = x + self.dropout(attended)
        return x + self.dropout(self.feed_forward(x))
