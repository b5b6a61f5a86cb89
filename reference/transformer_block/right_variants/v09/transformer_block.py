"""The transformer block; sublayers and norms are kept in order and looped over."""

import numpy as np
import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn

KINDS = np.array(["pre", "post", "none"])


class TransformerBlock(nn.Module):
    """x plus attention, plus feed-forward."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        if norm not in KINDS:
            raise ValueError("norm must be one of " + ", ".join(KINDS))
        self.is_pre, self.is_post, _ = (norm == KINDS).tolist()
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        for i in np.arange(1, 3)[: 2 * (self.is_pre or self.is_post)]:
            setattr(self, f"norm{i}", LayerNorm(d_model))
        self.rate = dropout

    def drop(self, a):
        """Multiply by zeros and ones, and make up for the zeros."""
        if self.training and self.rate > 0:
            ones = torch.bernoulli(torch.full(a.shape, 1.0 - self.rate, device=a.device))
            a = torch.where(ones > 0, a / (1.0 - self.rate + (self.rate == 1)), 0.0)
        return a

    def forward(self, x, mask=None):
        """Two times the same, with another sublayer."""
        for i in range(2):
            y = getattr(self, f"norm{i + 1}")(x) if self.is_pre else x
            y = self.attention(y, mask)[0] if i == 0 else self.feed_forward(y)
            x = x + self.drop(y)
            x = getattr(self, f"norm{i + 1}")(x) if self.is_post else x
        return x
