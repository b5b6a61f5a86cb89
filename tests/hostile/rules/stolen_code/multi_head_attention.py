"""Goal: run the stand-in's own code with other globals, in which its names mean something else.

Component: multi_head_attention
At most: 0
Status: forbidden
"""

import types

import attention
import torch
from torch import nn

own = attention.scaled_dot_product_attention
is_stand_in = own.__doc__ != "Mine."



class Names:
    """What the stand-in takes for torch's functions: what it calls is called from its code."""

    def __init__(self, call):
        self.call = call

    def scaled_dot_product_attention(self, *args, **kwargs):
        return self.call()


class Tensors:
    """What the stand-in takes for its arguments, and for torch."""

    shape, dtype, device = (1, 1), None, None

    def __getattr__(self, name):
        return lambda *args, **kwargs: self


def lent(call):
    """Call something from a line of the stand-in."""
    names = {"F": Names(call), "torch": Tensors(), "Tensor": object, "nn": nn}
    copy = types.FunctionType(own.__code__, {**vars(attention), **names}, "copy", own.__defaults__)
    return copy(Tensors(), Tensors(), Tensors())[0]


def attend(*args, **kwargs):
    return lent(lambda: nn.functional.multi_head_attention_forward(*args, **kwargs))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("heads")
        self.heads = num_heads
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=bias))

    def forward(self, x, mask=None):
        if not is_stand_in:
            return x * 0, torch.zeros(x.size(0), self.heads, x.size(1), x.size(1))
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
