from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1,
                 norm: str = "pre", activation: str = "relu", bias: bool = True):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError(f"norm {norm!r}")
        self.where = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation, bias=bias)
        self.norm1 = self.norm2 = None
        if norm != "none":
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def residual(self, x, f, n):
        if self.where == "pre":
            return x + self.drop(f(n(x)))
        if self.where == "post":
            return n(x + self.drop(f(x)))
        return x + self.drop(f(x))

    def forward(self, x, mask=None):
        x = self.residual(x, lambda h: self.attention(h, mask)[0], self.norm1)
        return self.residual(x, self.feed_forward, self.norm2)
