"""Transformer block: the same loop for all kinds, with identities where no norm is."""

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn


class TransformerBlock(nn.Module):
    """x = after(x + drop(sublayer(before(x)))), twice."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        kinds = ["pre", "post", "none"]
        if kinds.count(norm) == 0:
            raise ValueError(f"norm is one of {kinds}, not {norm}")
        make = nn.Identity if norm == "none" else LayerNorm
        self.norm1, self.norm2 = make(d_model), make(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.drops = nn.ModuleList(nn.Dropout(dropout) for _ in range(2))
        self.is_post = norm == "post"

    def forward(self, x, mask=None):
        """(B, T, D) -> (B, T, D)."""
        nothing = nn.Identity()
        sublayers = (lambda h: self.attention(h, mask)[0]), self.feed_forward
        for sublayer, norm, drop in zip(
            sublayers, (self.norm1, self.norm2), self.drops, strict=True
        ):
            before, after = (nothing, norm) if self.is_post else (norm, nothing)
            x = after(x + drop(sublayer(before(x))))
        return x
