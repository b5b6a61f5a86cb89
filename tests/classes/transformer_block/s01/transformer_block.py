import torch.nn as nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError("norm must be pre, post or none")
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm == "pre":
            x = x + self.drop(self.attention(self.norm1(x), mask)[0])
            x = x + self.drop(self.feed_forward(self.norm2(x)))
        elif self.norm == "post":
            x = self.norm1(x + self.drop(self.attention(x, mask)[0]))
            x = self.norm2(x + self.drop(self.feed_forward(x)))
        else:
            x = x + self.drop(self.attention(x, mask)[0])
            x = x + self.drop(self.feed_forward(x))
        return x
