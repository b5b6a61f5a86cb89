import torch
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
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm == "pre":
            attn_out, _ = self.attention(self.norm1(x), mask)
            x = x + self.dropout1(attn_out)
            ff_out = self.feed_forward(self.norm2(x))
            x = x + self.dropout2(ff_out)
        elif self.norm == "post":
            attn_out, _ = self.attention(x, mask)
            x = self.norm1(x + self.dropout1(attn_out))
            ff_out = self.feed_forward(x)
            x = self.norm2(x + self.dropout2(ff_out))
        else:
            attn_out, _ = self.attention(x, mask)
            x = x + self.dropout1(attn_out)
            ff_out = self.feed_forward(x)
            x = x + self.dropout2(ff_out)
        return x
