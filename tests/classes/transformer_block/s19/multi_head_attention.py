import torch.nn as nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super(MultiHeadAttention, self).__init__()
        if d_model % num_heads != 0:
            raise ValueError('d_model is not divisible by num_heads')
        self.d_model = d_model
        self.num_heads = num_heads
        self.head_size = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        query = self.q_linear(x)
        key = self.k_linear(x)
        value = self.v_linear(x)
        if mask is not None:
            if mask.dim() == 2:
                mask = mask.unsqueeze(0)
            mask = mask.unsqueeze(1)
        B = x.shape[0]
        T = x.shape[1]
        query = query.view(B, T, self.num_heads, self.head_size).permute(0, 2, 1, 3)
        key = key.view(B, T, self.num_heads, self.head_size).permute(0, 2, 1, 3)
        value = value.view(B, T, self.num_heads, self.head_size).permute(0, 2, 1, 3)
        result, weights = scaled_dot_product_attention(query, key, value, mask)
        result = result.permute(0, 2, 1, 3)
        result = result.reshape(B, T, self.d_model)
        return (self.out_proj(result), weights)
