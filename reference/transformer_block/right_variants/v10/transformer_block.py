"""The transformer block; where the norms stand is settled by which method forward calls."""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(torch.nn.Module):
    """Attention and feed-forward on a stream."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        method = {"pre": self.pre, "post": self.post, "none": self.none}.get(norm)
        if method is None:
            raise ValueError(f"cannot normalise {norm!r}")
        self.method = method.__name__
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.drop1, self.drop2 = torch.nn.Dropout(dropout), torch.nn.Dropout(dropout)
        if norm != "none":
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)

    def pre(self, x, mask):
        """Normalise what the sublayers read."""
        x = x + self.drop1(self.attention(self.norm1(x), mask)[0])
        return x + self.drop2(self.feed_forward(self.norm2(x)))

    def post(self, x, mask):
        """Normalise the sums."""
        x = self.norm1(x + self.drop1(self.attention(x, mask)[0]))
        return self.norm2(x + self.drop2(self.feed_forward(x)))

    def none(self, x, mask):
        """Do not normalise."""
        x = x + self.drop1(self.attention(x, mask)[0])
        return x + self.drop2(self.feed_forward(x))

    def forward(self, x, mask=None):
        """Call the method that was chosen."""
        return getattr(self, self.method)(x, mask)
