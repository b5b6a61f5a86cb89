"""The block: a table of wirings, folded over the two sublayers."""

from functools import reduce

from feed_forward import FeedForward
from fn import pick
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn

WIRINGS = {
    "pre": lambda x, f, norm, drop: x + drop(f(norm(x))),
    "post": lambda x, f, norm, drop: norm(x + drop(f(x))),
    "none": lambda x, f, norm, drop: x + drop(f(x)),
}


class TransformerBlock(nn.Module):
    """Attention, then feed-forward."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        self.wire, self.drop = pick(WIRINGS, norm), nn.Dropout(dropout)
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.norm1, self.norm2 = (None if norm == "none" else LayerNorm(d_model) for _ in "12")

    def forward(self, x, mask=None):
        """(B, T, D) -> (B, T, D)."""
        steps = (
            (lambda h: self.attention(h, mask)[0], self.norm1),
            (self.feed_forward, self.norm2),
        )
        return reduce(lambda h, step: self.wire(h, *step, self.drop), steps, x)
