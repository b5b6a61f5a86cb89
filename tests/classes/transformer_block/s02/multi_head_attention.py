import torch
from torch import einsum, nn


class MultiHeadAttention(nn.Module):
    """b batch, q/k positions, h head, e feature of one head."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True):
        super().__init__()
        self.h = num_heads
        self.e, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} features cannot be shared out over {num_heads} heads")
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)
        self.out_proj = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        q, k, v = (lin(x).unflatten(-1, (self.h, self.e)) for lin in (self.q_linear, self.k_linear, self.v_linear))
        s = einsum("bqhe,bkhe->bhqk", q, k) / self.e ** 0.5
        if mask is not None:
            m = mask if mask.ndim == 3 else mask[None]
            s = s.masked_fill(~m[:, None], -torch.inf)
        w = s.softmax(-1)
        o = einsum("bhqk,bkhe->bqhe", w, v).flatten(-2)
        return self.out_proj(o), w
