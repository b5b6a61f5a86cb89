import torch.nn as nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super(TransformerBlock, self).__init__()
        self.norm = norm
        # the two sublayers
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation, bias=bias)
        # the norms, if there are any
        if norm == "pre" or norm == "post":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        elif norm != "none":
            raise ValueError("norm can only be pre, post or none")
        # dropout for both sublayers
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm == "pre":
            # normalize, attend, add
            attended, weights = self.attention(self.norm1(x), mask)
            x = x + self.dropout(attended)
            # normalize, feed forward, add
            fed = self.feed_forward(self.norm2(x))
            x = x + self.dropout(fed)
        elif self.norm == "post":
            # attend, add, normalize
            attended, weights = self.attention(x, mask)
            x = self.norm1(x + self.dropout(attended))
            # feed forward, add, normalize
            fed = self.feed_forward(x)
            x = self.norm2(x + self.dropout(fed))
        else:
            # no norm at all
            attended, weights = self.attention(x, mask)
            x = x + self.dropout(attended)
            fed = self.feed_forward(x)
            x = x + self.dropout(fed)
        return x
