import torch.nn as nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def split(self, t):
        B, T, D = t.shape
        return t.view(B, T, self.num_heads, D // self.num_heads).transpose(1, 2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.split(self.q_linear(x))
        k = self.split(self.k_linear(x))
        v = self.split(self.v_linear(x))
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)  # same mask for every head
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        out = out.transpose(1, 2).reshape(B, T, D)
        return self.out_proj(out), weights
