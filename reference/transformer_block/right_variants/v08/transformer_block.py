"""The transformer block, put together from the other files."""

from feed_forward import FeedForward
from layer_norm import *  # noqa: F403
from layer_norm import LayerNorm
from multi_head_attention import *  # noqa: F403
from multi_head_attention import MultiHeadAttention
from toolbox import choose, nn

# Per norm: is there one before the sublayer, is there one after the sum?
PLACES = {"pre": (True, False), "post": (False, True), "none": (False, False)}


class TransformerBlock(nn.Module):
    """Two sublayers around which norms may or may not stand."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", *args, **kwargs):
        super().__init__()
        self.before, self.after = choose(PLACES, norm, "norm")
        settings = dict(zip(("activation", "bias"), args, strict=False)) | kwargs
        self.attention = MultiHeadAttention(d_model, num_heads, settings.get("bias", True))
        self.feed_forward = FeedForward(d_model, d_ff, dropout, **settings)
        self.dropout = nn.Dropout(dropout)
        if self.before or self.after:
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)

    def sublayer(self, number, x, function):
        """Add what the function finds to the stream, with a norm where it belongs."""
        norm = getattr(self, f"norm{number}", None)
        found = function(norm(x) if self.before else x)
        total = x + self.dropout(found)
        return norm(total) if self.after else total

    def forward(self, x, mask=None):
        """Apply the first sublayer, then the second."""
        x = self.sublayer(1, x, lambda y: self.attention(y, mask)[0])
        return self.sublayer(2, x, self.feed_forward)
