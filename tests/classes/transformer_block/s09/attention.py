import torch as th
from torch import nn


def causal_mask(seq_len):
    r = th.arange(seq_len)
    return r.unsqueeze(0) <= r.unsqueeze(1)


def padding_mask(token_ids, pad_id):
    ok = token_ids != pad_id
    return ok[:, None, :] & th.ones_like(ok)[:, :, None]


def scaled_dot_product_attention(query, key, value, mask=None):
    a = query @ key.mT
    a = a / query.shape[-1] ** 0.5
    if mask is not None:
        a = th.where(mask, a, -th.inf)
    a = th.softmax(a, -1)
    return a @ value, a


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear, self.k_linear, self.v_linear = (nn.Linear(d_model, d_model, bias=bias) for _ in range(3))

    def forward(self, x, mask=None):
        return scaled_dot_product_attention(self.q_linear(x), self.k_linear(x), self.v_linear(x), mask)
