from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn


class TransformerBlock(nn.Module):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError(f"no such norm: {norm}")
        self.kind = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.kind == "post":
            x = self.norm1(x + self.dropout(self.attention(x, mask)[0]))
            return self.norm2(x + self.dropout(self.feed_forward(x)))
        first = self.norm1(x) if self.kind == "pre" else x
        x = x + self.dropout(self.attention(first, mask)[0])
        second = self.norm2(x) if self.kind == "pre" else x
        return x + self.dropout(self.feed_forward(second))
