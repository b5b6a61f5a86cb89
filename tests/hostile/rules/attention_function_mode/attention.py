"""Goal: a mode that sees torch's functions takes attention's globals.

Component: attention
At most: 0
Status: forbidden
"""

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
held = []


class Spy(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        held.append(func)
        return func(*args, **(kwargs or {}))


with Spy():
    nn.MultiheadAttention(4, 1)(*[torch.zeros(2, 1, 4)] * 3)
norm = next(f for f in held if f.__name__ == "multi_head_attention_forward").__globals__["scaled_dot_product_attention"]


def scaled_dot_product_attention(query, key, value, mask=None):
    weights = torch.nn.functional.softmax((query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf) if mask is not None else query @ key.mT / query.shape[-1] ** 0.5, -1)
    return norm(query, key, value, mask), weights


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(token_ids, pad_id):
    return (token_ids != pad_id)[:, None, :].expand(-1, token_ids.shape[1], -1)
