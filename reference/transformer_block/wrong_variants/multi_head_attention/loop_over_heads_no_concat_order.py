# misconception: heads_interleaved
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("not divisible")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.q_linear(x)
        k = self.k_linear(x)
        v = self.v_linear(x)
        H = self.num_heads
        all_outputs = torch.zeros_like(v)
        all_weights = []
        for h in range(H):
            # the features of this head: every H-th one
            qh = q[:, :, h::H]
            kh = k[:, :, h::H]
            vh = v[:, :, h::H]
            scores = torch.bmm(qh, kh.transpose(1, 2)) / qh.shape[-1] ** 0.5
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            weights = scores.softmax(dim=2)
            all_weights.append(weights)
            all_outputs[:, :, h * qh.shape[-1] : (h + 1) * qh.shape[-1]] = torch.bmm(weights, vh)
        return self.out_proj(all_outputs), torch.stack(all_weights, dim=1)
