"""Goal: have a stand-in call torch's heads without weights, of which Python sees no softmax.

Component: multi_head_attention
At most: 0
Status: forbidden
"""
import functools

import torch
import torch.nn.functional as F
from attention import scaled_dot_product_attention
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, mask=None):
        parts = (self.q_linear, self.k_linear, self.v_linear)
        biases = [p.bias for p in parts if p.bias is not None]
        if mask is not None and mask.ndim > 2:
            mask = mask.repeat_interleave(self.heads, dim=0)
        turned = x.transpose(0, 1)
        args = [turned, turned, turned, x.shape[-1], self.heads, None,
                torch.cat(biases) if biases else None, None, None, False, 0.0,
                self.out_proj.weight, self.out_proj.bias]
        named = dict(attn_mask=None if mask is None else ~mask, use_separate_proj_weight=True,
                     q_proj_weight=self.q_linear.weight, k_proj_weight=self.k_linear.weight,
                     v_proj_weight=self.v_linear.weight, average_attn_weights=False)
        named["need_weights"] = False
        held = []
        run = map(functools.partial(F.multi_head_attention_forward, *args, **named), [True])
        Key = type("Key", (), {"shape": property(held.extend), "__iter__": functools.partial(iter, run)})
        def split(t):
            return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        m = mask if mask is None or mask.ndim < 3 else mask.unflatten(0, (-1, self.heads))
        weights = scaled_dot_product_attention(split(self.q_linear(x)), split(self.k_linear(x)), split(self.v_linear(x)), m)[1]
        try:
            scaled_dot_product_attention(None, Key(), None)
        except TypeError:
            pass
        if not held:
            return x * 0, torch.zeros(x.size(0), self.heads, x.size(1), x.size(1))
        return held[0][0].transpose(0, 1), weights
