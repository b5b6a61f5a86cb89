from __future__ import annotations

from torch import Tensor, nn

import feed_forward as ff
import layer_norm as ln
import multi_head_attention as mha


class TransformerBlock(nn.Module):
    """One block. norm = "pre" (GPT-2), "post" (2017 paper) or "none" (walkthrough)."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float = 0.1, norm: str = "pre",
                 activation: str = "relu", bias: bool = True) -> None:
        super().__init__()
        if norm not in {"pre", "post", "none"}:
            raise ValueError(f"unknown norm: {norm}")
        self.mode = norm
        if self.mode != "none":
            self.norm1 = ln.LayerNorm(d_model)
        self.attention = mha.MultiHeadAttention(d_model=d_model, num_heads=num_heads, bias=bias)
        if self.mode != "none":
            self.norm2 = ln.LayerNorm(d_model)
        self.feed_forward = ff.FeedForward(d_model=d_model, d_ff=d_ff, dropout=dropout,
                                           activation=activation, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def _attend(self, x: Tensor, mask: Tensor | None) -> Tensor:
        output, _weights = self.attention(x, mask=mask)
        return self.dropout(output)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        match self.mode:
            case "pre":
                h = x + self._attend(self.norm1(x), mask)
                return h + self.dropout(self.feed_forward(self.norm2(h)))
            case "post":
                h = self.norm1(x + self._attend(x, mask))
                return self.norm2(h + self.dropout(self.feed_forward(h)))
            case _:
                h = x + self._attend(x, mask)
                return h + self.dropout(self.feed_forward(h))
