import torch
from torch import nn

from attention import scaled_dot_product_attention


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super(MultiHeadAttention, self).__init__()
        assert d_model % num_heads == 0, "d_model must be a multiple of num_heads"
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        Q = self.q_linear(x)
        K = self.k_linear(x)
        V = self.v_linear(x)
        if mask is not None:
            mask = mask.expand(B, T, T)

        batch_out = []
        batch_weights = []
        for b in range(B):
            heads = []
            head_weights = []
            for h in range(self.num_heads):
                first = h * self.head_dim
                last = (h + 1) * self.head_dim
                out, w = scaled_dot_product_attention(
                    Q[b, :, first:last],
                    K[b, :, first:last],
                    V[b, :, first:last],
                    None if mask is None else mask[b],
                )
                heads.append(out)
                head_weights.append(w)
            batch_out.append(torch.cat(heads, dim=-1))
            batch_weights.append(torch.stack(head_weights))
        output = self.out_proj(torch.stack(batch_out))
        return output, torch.stack(batch_weights)
