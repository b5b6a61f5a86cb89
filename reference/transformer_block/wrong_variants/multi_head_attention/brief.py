from attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("the heads cannot share the features")
        self.heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = (self.split(f(x)) for f in (self.q_linear, self.k_linear, self.v_linear))
        if mask is not None and mask.dim() == 3:
            mask = mask[:, None]
        found, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(found.transpose(1, 2).flatten(2)), weights
