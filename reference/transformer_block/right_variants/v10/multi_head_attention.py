"""Multi-head attention: SelfAttention with its features cut into heads."""

import torch
from attention import SelfAttention, scaled_dot_product_attention


class MultiHeadAttention(SelfAttention):
    """Takes the three projections over and adds the one at the end."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__(d_model, bias)
        if d_model % num_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads")
        self.num_heads = num_heads
        self.out_proj = torch.nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        """Attend in every head."""
        heads = [
            torch.stack(layer(x).chunk(self.num_heads, dim=-1), dim=1)
            for layer in (self.q_linear, self.k_linear, self.v_linear)
        ]
        if mask is not None:
            mask = mask.view(-1, 1, *mask.shape[-2:])
        mixed, weights = scaled_dot_product_attention(*heads, mask)
        return self.out_proj(torch.cat(tuple(mixed.unbind(1)), dim=-1)), weights
