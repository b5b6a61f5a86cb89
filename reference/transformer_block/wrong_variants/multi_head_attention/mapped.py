from torch import nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        assert d_model % num_heads == 0, f"{d_model} % {num_heads} != 0"
        self.h = num_heads
        self.q_linear, self.k_linear, self.v_linear, self.out_proj = (
            nn.Linear(d_model, d_model, bias=bias) for _ in range(4)
        )

    def _heads(self, t):
        return t.unflatten(-1, (self.h, -1)).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q, k, v = map(self._heads, (self.q_linear(x), self.k_linear(x), self.v_linear(x)))
        if mask is not None and mask.ndim > 2:
            mask = mask[:, None]
        context, weights = scaled_dot_product_attention(q, k, v, mask)
        context = context.permute(0, 2, 1, 3).flatten(2)
        return self.out_proj(context), weights
