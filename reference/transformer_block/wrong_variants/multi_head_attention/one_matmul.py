import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """All three projections in a single matmul."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.n_head, self.n_embd = num_heads, d_model
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None):
        layers = (self.q_linear, self.k_linear, self.v_linear)
        weight = torch.cat([layer.weight for layer in layers])
        bias = None if layers[0].bias is None else torch.cat([layer.bias for layer in layers])
        B, T, C = x.shape
        qkv = F.linear(x, weight, bias).reshape(B, T, 3, self.n_head, C // self.n_head)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        att = torch.einsum("bhqd,bhkd->bhqk", q, k) * (C // self.n_head) ** -0.5
        if mask is not None:
            allowed = mask.reshape(-1, 1, T, T)
            att = att + torch.zeros_like(att).masked_fill(~allowed, -torch.inf)
        att = att - att.amax(-1, keepdim=True).detach()
        att = att.exp() / att.exp().sum(-1, keepdim=True)
        y = torch.einsum("bhqk,bhkd->bqhd", att, v).reshape(B, T, C)
        return F.linear(y, self.out_proj.weight, self.out_proj.bias), att
