from torch import nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super(TransformerBlock, self).__init__()
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.dropout1 = nn.Dropout(dropout)
        self.dropout2 = nn.Dropout(dropout)
        if norm == "pre" or norm == "post":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        elif norm == "none":
            pass
        else:
            raise ValueError("norm should be pre, post or none")

    def forward(self, x, mask=None):
        # step 1: attention
        residual = x
        if self.norm == "pre":
            x = self.norm1(x)
        x, weights = self.attention(x, mask)
        x = self.dropout1(x)
        x = residual + x
        if self.norm == "post":
            x = self.norm1(x)

        # step 2: feed forward
        residual = x
        if self.norm == "pre":
            x = self.norm2(x)
        x = self.feed_forward(x)
        x = self.dropout2(x)
        x = residual + x
        if self.norm == "post":
            x = self.norm2(x)
        return x
