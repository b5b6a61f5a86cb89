from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError("norm?")
        self.pre = norm == "pre"
        self.post = norm == "post"
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if self.pre or self.post:
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        y = self.norm1(x) if self.pre else x
        x = x + self.drop(self.attention(y, mask)[0])
        x = self.norm1(x) if self.post else x
        y = self.norm2(x) if self.pre else x
        x = x + self.drop(self.feed_forward(y))
        x = self.norm2(x) if self.post else x
        return x
