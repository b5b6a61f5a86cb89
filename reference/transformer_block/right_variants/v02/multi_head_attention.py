# Multi head attention. The heads go inside of the batch, so one bmm makes all heads in same time.
"""Multi-head attention, step by step."""

import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """Many heads, everyone looks at his part of the features."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        assert d_model % num_heads == 0, "d_model must be dividable by num_heads"
        self.d_model = d_model
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def heads_into_batch(self, tensor):
        """(B, T, D) becomes (B*H, T, d)."""
        batch_size, seq_len, _ = tensor.shape
        tensor = tensor.reshape(batch_size, seq_len, self.num_heads, self.d_head)
        tensor = tensor.permute(0, 2, 1, 3)
        tensor = tensor.contiguous()
        tensor = tensor.view(batch_size * self.num_heads, seq_len, self.d_head)
        return tensor

    def heads_out_of_batch(self, tensor):
        """(B*H, T, d) becomes (B, T, D)."""
        seq_len = tensor.shape[1]
        batch_size = tensor.shape[0] // self.num_heads
        tensor = tensor.view(batch_size, self.num_heads, seq_len, self.d_head)
        tensor = tensor.permute(0, 2, 1, 3)
        tensor = tensor.contiguous()
        tensor = tensor.view(batch_size, seq_len, self.d_model)
        return tensor

    def forward(self, x, mask=None):
        """Give back output and weights of all heads."""
        batch_size, seq_len, d_model = x.shape
        assert d_model == self.d_model, "wrong size of features"

        query = self.heads_into_batch(self.q_linear(x))
        key = self.heads_into_batch(self.k_linear(x))
        value = self.heads_into_batch(self.v_linear(x))

        scores = torch.bmm(query, key.permute(0, 2, 1))
        scores = torch.div(scores, math.sqrt(self.d_head))
        assert scores.shape == (batch_size * self.num_heads, seq_len, seq_len)

        if mask is not None:
            if mask.dim() == 2:
                # same mask for all the sentences
                mask = mask.unsqueeze(0)
                mask = mask.expand(batch_size, seq_len, seq_len)
            assert mask.shape == (batch_size, seq_len, seq_len)
            # same mask for all the heads of the one sentence
            mask = mask.unsqueeze(1)
            mask = mask.repeat(1, self.num_heads, 1, 1)
            mask = mask.view(batch_size * self.num_heads, seq_len, seq_len)
            scores = scores.masked_fill(torch.logical_not(mask), float("-inf"))

        weights = torch.softmax(scores, dim=-1)
        output = torch.bmm(weights, value)
        output = self.heads_out_of_batch(output)
        output = self.out_proj(output)
        weights = weights.view(batch_size, self.num_heads, seq_len, seq_len)
        assert output.shape == x.shape
        return output, weights


if __name__ == "__main__":
    out, w = MultiHeadAttention(64, 4)(torch.randn(2, 5, 64))
    print(out.shape, w.shape)
    print("the sums should be 1:", w.sum(dim=-1))
