"""One helper for both sublayers: normalise, run, drop, add."""
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn
from torch.nn import functional as F


class TransformerBlock(nn.Module):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        if norm not in {"pre", "post", "none"}:
            raise ValueError(norm)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation, bias=bias)
        make = nn.Identity if norm == "none" else (lambda: LayerNorm(d_model))
        self.norm1, self.norm2 = make(), make()
        self.post = norm == "post"
        self.p = dropout

    def _residual(self, x, norm, sublayer):
        read = x if self.post else norm(x)
        added = sublayer(read)
        added = F.dropout(added, self.p, self.training)
        x = x + added
        return norm(x) if self.post else x

    def forward(self, x, mask=None):
        def attend(y):
            return self.attention(y, mask)[0]

        x = self._residual(x, self.norm1, attend)
        x = self._residual(x, self.norm2, self.feed_forward)
        return x
