import torch as th
from torch import nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        # heads: cut the last dimension into h chunks
        q = self.q_linear(x).chunk(self.h, dim=-1)
        k = self.k_linear(x).chunk(self.h, dim=-1)
        v = self.v_linear(x).chunk(self.h, dim=-1)
        # one head sees (B, T, D/h), so (T, T) and (B, T, T) masks both work as they are
        pairs = [scaled_dot_product_attention(q[i], k[i], v[i], mask) for i in range(self.h)]
        o = th.cat([p[0] for p in pairs], dim=-1)
        w = th.stack([p[1] for p in pairs], dim=1)
        return self.out_proj(o), w
