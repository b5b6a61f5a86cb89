import torch
from torch import einsum, nn


def causal_mask(seq_len):
    i = torch.arange(seq_len)
    return i[:, None] >= i[None, :]


def padding_mask(token_ids, pad_id):
    n = token_ids.shape[1]
    keep = token_ids.ne(pad_id)
    return keep[:, None, :].expand(-1, n, -1)


def _softmax(t, axis):
    t = t - t.amax(dim=axis, keepdim=True)
    e = t.exp()
    return e / e.sum(dim=axis, keepdim=True)


def scaled_dot_product_attention(query, key, value, mask=None):
    scale = query.shape[-1] ** -0.5
    sim = einsum("...id,...jd->...ij", query, key) * scale
    if mask is not None:
        sim = torch.where(mask, sim, torch.full_like(sim, -torch.inf))
    attn = _softmax(sim, -1)
    return einsum("...ij,...jd->...id", attn, value), attn


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        for n in "qkv":
            self.add_module(n + "_linear", nn.Linear(d_model, d_model, bias))

    def forward(self, x, mask=None):
        q, k, v = (getattr(self, n + "_linear")(x) for n in "qkv")
        return scaled_dot_product_attention(q, k, v, mask)
