"""Multi-head attention: see toolbox.py; only the output projection is added here."""

import toolbox as tb

__all__ = ("MultiHeadAttention",)


class MultiHeadAttention(tb.MultiHead):
    """The heads of the toolbox and the layer that mixes them."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        size = self.q_linear.in_features
        tb.linears(self, {"out_proj": (size, size)}, self.q_linear.bias is not None)

    def forward(self, *args, **kwargs):
        """Project what the heads found."""
        joined, weights = super().forward(*args, **kwargs)
        return self.out_proj(joined), weights
