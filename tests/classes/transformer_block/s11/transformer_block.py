from typing import Optional
from torch import Tensor, nn
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float=0.1, norm: str='pre', activation: str='relu', bias: bool=True):
        super().__init__()
        if norm not in ('pre', 'post', 'none'):
            raise ValueError(f"norm must be 'pre', 'post' or 'none', not {norm!r}")
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation, bias=bias)
        if norm != 'none':
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Optional[Tensor]=None) -> Tensor:
        if self.norm == 'post':
            attended, _ = self.attention(x, mask)
            x = self.norm1(x + self.dropout(attended))
            return self.norm2(x + self.dropout(self.feed_forward(x)))
        attended, _ = self.attention(self.norm1(x) if self.norm == 'pre' else x, mask)
        x = x + self.dropout(attended)
        fed = self.feed_forward(self.norm2(x) if self.norm == 'pre' else x)
        return x + self.dropout(fed)
