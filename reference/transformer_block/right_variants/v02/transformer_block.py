# The block. I write three functions, one for every norm, because with many ifs I was confused.
"""Transformer block, step by step."""

import torch
import torch.nn as nn
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention


class TransformerBlock(nn.Module):
    """Attention and feed forward with plus around."""

    def __init__(
        self,
        d_model,
        num_heads,
        d_ff,
        dropout=0.1,
        norm="pre",
        activation="relu",
        bias=True,
    ):
        super().__init__()
        self.d_model = d_model
        self.norm_name = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(
            d_model, d_ff, dropout=dropout, activation=activation, bias=bias
        )
        self.dropout_after_attention = nn.Dropout(p=dropout)
        self.dropout_after_feed_forward = nn.Dropout(p=dropout)
        # without norm there must be no norm keys in the state dict
        if norm != "none":
            self.norm1 = LayerNorm(d_model)
            self.norm2 = LayerNorm(d_model)

    def forward_pre(self, x, mask):
        """Norm is before."""
        normalised_one = self.norm1(x)
        attention_output, _attention_weights = self.attention(normalised_one, mask)
        attention_output = self.dropout_after_attention(attention_output)
        middle = x + attention_output
        normalised_two = self.norm2(middle)
        feed_forward_output = self.feed_forward(normalised_two)
        feed_forward_output = self.dropout_after_feed_forward(feed_forward_output)
        end = middle + feed_forward_output
        return end

    def forward_post(self, x, mask):
        """Norm is after the plus."""
        attention_output, _attention_weights = self.attention(x, mask)
        attention_output = self.dropout_after_attention(attention_output)
        middle = self.norm1(x + attention_output)
        feed_forward_output = self.feed_forward(middle)
        feed_forward_output = self.dropout_after_feed_forward(feed_forward_output)
        end = self.norm2(middle + feed_forward_output)
        return end

    def forward_none(self, x, mask):
        """Norm is nowhere."""
        attention_output, _attention_weights = self.attention(x, mask)
        attention_output = self.dropout_after_attention(attention_output)
        middle = x + attention_output
        feed_forward_output = self.feed_forward(middle)
        feed_forward_output = self.dropout_after_feed_forward(feed_forward_output)
        end = middle + feed_forward_output
        return end

    def forward(self, x, mask=None):
        """Choose the right function."""
        assert x.dim() == 3, "x must be batch, time, features"
        assert x.shape[2] == self.d_model, "wrong size of features"
        if self.norm_name == "pre":
            result = self.forward_pre(x, mask)
        elif self.norm_name == "post":
            result = self.forward_post(x, mask)
        elif self.norm_name == "none":
            result = self.forward_none(x, mask)
        else:
            raise ValueError("this norm is not existing: " + str(self.norm_name))
        assert result.shape == x.shape
        return result


if __name__ == "__main__":
    for name in ["pre", "post", "none"]:
        block = TransformerBlock(64, 4, 256, norm=name)
        print(name, block(torch.randn(2, 5, 64)).shape)
