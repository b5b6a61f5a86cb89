"""A transformer block in the manner of a well-known walk through the paper."""
import torch.nn as nn
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class SublayerConnection(nn.Module):
    def __init__(self, norm, dropout, place):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.place = place
        self.get_norm = lambda: norm

    def forward(self, x, sublayer):
        norm = self.get_norm()
        if self.place == "pre":
            return x + self.dropout(sublayer(norm(x)))
        if self.place == "post":
            return norm(x + self.dropout(sublayer(x)))
        return x + self.dropout(sublayer(x))


class TransformerBlock(nn.Module):
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
        super().__init__()
        if norm == "pre" or norm == "post":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        elif norm == "none":
            self.norm1 = self.norm2 = None
        else:
            raise ValueError("unknown norm " + repr(norm))
        self.attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.first = SublayerConnection(self.norm1, dropout, norm)
        self.second = SublayerConnection(self.norm2, dropout, norm)

    def forward(self, x, mask=None):
        x = self.first(x, lambda y: self.attention(y, mask)[0])
        return self.second(x, self.feed_forward)
