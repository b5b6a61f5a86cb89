"""q = query position, k = key position, d = feature, b = batch."""
import torch
from torch import einsum, nn


def causal_mask(seq_len: int):
    i = torch.arange(seq_len)
    return i[:, None] >= i[None, :]


def padding_mask(token_ids, pad_id: int):
    keep = token_ids.ne(pad_id)
    every_query = torch.ones_like(keep)
    return einsum("bq,bk->bqk", every_query.int(), keep.int()).bool()


def scaled_dot_product_attention(query, key, value, mask=None):
    s = einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -torch.inf)
    w = s.softmax(-1)
    return einsum("...qk,...kd->...qd", w, value), w


class SelfAttention(nn.Module):
    def __init__(self, d_model: int, bias: bool = True):
        super().__init__()
        for name in ("q_linear", "k_linear", "v_linear"):
            self.add_module(name, nn.Linear(d_model, d_model, bias))

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.q_linear(x), self.k_linear(x), self.v_linear(x), mask)
