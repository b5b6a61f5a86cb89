from torch import nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        assert d_model % num_heads == 0, "d_model / num_heads must be whole"
        super().__init__()
        self.H = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        assert mask is None or mask.dim() in (2, 3)
        if mask is not None:
            mask = mask.reshape(-1, 1, T, T)   # the 1 is for the heads
        q, k, v = [
            f(x).reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)
            for f in (self.q_linear, self.k_linear, self.v_linear)
        ]
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        return [self.out_proj(heads.permute(0, 2, 1, 3).reshape(B, T, D)), weights]
