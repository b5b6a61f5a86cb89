"""What the classifier is made of."""

from collections import OrderedDict

import torch
from provided.blocks import MultiHeadAttention

SPLIT = ("query", "key", "value")


class Recorder(OrderedDict):
    """Keeps what passes through it by name."""

    def __call__(self, name, value):
        """Keep a value and hand it on."""
        self[name] = value
        return value


class SeenAttention(MultiHeadAttention):
    """The provided attention, computed in the open."""

    def record(self, x, mask, keep):
        """Attend, and keep every step."""
        layers = (self.q_linear, self.k_linear, self.v_linear)
        q, k, v = (
            keep(name, torch.stack(layer(x).chunk(self.num_heads, dim=-1), dim=1))
            for name, layer in zip(SPLIT, layers, strict=True)
        )
        scores = q.matmul(k.transpose(2, 3)).div(q.size(3) ** 0.5)
        if mask is not None:
            scores = scores + torch.zeros_like(scores).masked_fill(~mask.unsqueeze(1), -torch.inf)
        weights = keep("attention_weights", torch.softmax(scores, dim=3))
        values = keep("attention_values", torch.cat((weights @ v).unbind(1), dim=-1))
        return keep("attention_output", self.out_proj(values))
