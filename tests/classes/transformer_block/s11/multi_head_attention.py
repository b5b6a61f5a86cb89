import math
from typing import Optional, Tuple
import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, bias: bool=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f'd_model={d_model} must be divisible by num_heads={num_heads}')
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Optional[Tensor]=None) -> Tuple[Tensor, Tensor]:
        batch, length, d_model = x.shape
        shape = (batch, self.num_heads, length, self.head_dim)
        q = self.q_linear(x).reshape(shape)
        k = self.k_linear(x).reshape(shape)
        v = self.v_linear(x).reshape(shape)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None, :, :]
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(dim=-1)
        context = torch.matmul(weights, v)
        context = context.reshape(batch, length, d_model)
        return (self.out_proj(context), weights)
