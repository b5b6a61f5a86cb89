# misconception: fused_projection
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (y.reshape(b, t, self.num_heads, -1).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.transpose(-1, -2) / (d // self.num_heads) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~(mask if mask.dim() == 2 else mask[:, None]), -torch.inf)
        weights = scores.softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).reshape(b, t, d)), weights
