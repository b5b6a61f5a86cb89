"""Goal: load a second copy of torch's functions from their file, from which nothing was taken.

Component: multi_head_attention
At most: 0
Status: forbidden
"""

import importlib.util

import torch
import torch.nn.functional as F
from torch import nn

spec = importlib.util.spec_from_file_location("torch.nn.second", F.__file__)
second = importlib.util.module_from_spec(spec)
try:
    spec.loader.exec_module(second)
except Exception:
    pass
attend = getattr(second, "multi_head_attention_forward", None)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, mask=None):
        layers = (self.q_linear, self.k_linear, self.v_linear)
        biases = [layer.bias for layer in layers if layer.bias is not None]
        hidden = None if mask is None else ~mask
        if hidden is not None and hidden.dim() == 3:
            hidden = hidden.repeat_interleave(self.heads, 0)
        turned = x.transpose(0, 1)
        result, weights = attend(
            *(turned, turned, turned, x.size(-1), self.heads, None),
            *(torch.cat(biases) if biases else None, None, None, False, 0.0),
            *(self.out_proj.weight, self.out_proj.bias),
            attn_mask=hidden,
            use_separate_proj_weight=True,
            q_proj_weight=self.q_linear.weight,
            k_proj_weight=self.k_linear.weight,
            v_proj_weight=self.v_linear.weight,
            average_attn_weights=False,
        )
        return result.transpose(0, 1), weights
