from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super().__init__()
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm == "pre":
            a, _ = self.attention(self.norm1(x), mask)
            x = x + self.drop(a)
            return x + self.drop(self.feed_forward(self.norm2(x)))
        if self.norm == "post":
            a, _ = self.attention(x, mask)
            x = self.norm1(x + self.drop(a))
            return self.norm2(x + self.drop(self.feed_forward(x)))
        if self.norm == "none":
            a, _ = self.attention(x, mask)
            x = x + self.drop(a)
            return x + self.drop(self.feed_forward(x))
        raise ValueError("norm must be pre, post or none, not %s" % self.norm)
