"""The transformer block puts everything together."""
import torch
import torch.nn as nn

from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from utils import complain, log

print("transformer_block.py is being imported")

NORMS = ["pre", "post", "none"]


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True):
        super().__init__()
        if norm not in NORMS:
            raise ValueError("norm must be one of %s, not %r" % (NORMS, norm))
        self.norm = norm
        # Multi-head attention
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        # Feed-forward network
        self.feed_forward = FeedForward(d_model, d_ff, dropout=dropout, activation=activation, bias=bias)
        # Layer normalisation (mine, not nn.LayerNorm)
        if norm == "pre" or norm == "post":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)
        # Dropout
        self.dropout = nn.Dropout(dropout)
        print("made a TransformerBlock:", d_model, num_heads, d_ff, norm)

    def forward(self, x, mask=None):
        complain("TransformerBlock.forward was called")
        log("block input", tuple(x.shape))
        attention_input = self.norm1(x) if self.norm == "pre" else x
        attention_output, _ = self.attention(attention_input, mask)
        x = x + self.dropout(attention_output)
        if self.norm == "post":
            x = self.norm1(x)
        log("after attention", tuple(x.shape))
        ff_input = self.norm2(x) if self.norm == "pre" else x
        ff_output = self.feed_forward(ff_input)
        x = x + self.dropout(ff_output)
        if self.norm == "post":
            x = self.norm2(x)
        log("block output", tuple(x.shape))
        return x


if __name__ == "__main__":
    block = TransformerBlock(64, 4, 256)
    print(block(torch.randn(16, 10, 64)).shape)
