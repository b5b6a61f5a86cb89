# misconception: none
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=bias)
        self.W_k = nn.Linear(d_model, d_model, bias=bias)
        self.W_v = nn.Linear(d_model, d_model, bias=bias)
        self.W_o = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.W_q(x).view(B, T, self.h, D // self.h).transpose(1, 2)
        K = self.W_k(x).view(B, T, self.h, D // self.h).transpose(1, 2)
        V = self.W_v(x).view(B, T, self.h, D // self.h).transpose(1, 2)
        scores = Q @ K.transpose(2, 3) / math.sqrt(D // self.h)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.unsqueeze(1)
            scores = scores.masked_fill(~mask, -math.inf)
        A = scores.softmax(dim=3)
        return self.W_o((A @ V).transpose(1, 2).reshape(B, T, D)), A
