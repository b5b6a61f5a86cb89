"""Multi-head attention with checks."""

from __future__ import annotations

from attention import Attended, scaled_dot_product_attention
from guards import BadDimensionError, Sizes, check_sequence, traced, xavier
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """H heads, each on its share of the features."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        self.sizes = Sizes(d_model=d_model, num_heads=num_heads, bias=bias)
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new weights."""
        xavier(self.q_linear, self.k_linear, self.v_linear, self.out_proj)

    def extra_repr(self) -> str:
        """Show the heads."""
        return f"heads={self.sizes.num_heads} x {self.sizes.d_head}"

    @staticmethod
    def _for_heads(mask: Tensor | None, *, batch: int, length: int) -> Tensor | None:
        if mask is None:
            return None
        match tuple(mask.shape):
            case (rows, columns) if rows == columns == length:
                return mask.expand(batch, 1, length, length)
            case (first, rows, columns) if first == batch and rows == columns == length:
                return mask.unsqueeze(dim=1)
            case shape:
                raise BadDimensionError(f"mask {shape} for {batch} sequences of {length} tokens")

    def _heads(self, t: Tensor, /) -> Tensor:
        return t.unflatten(-1, (self.sizes.num_heads, self.sizes.d_head)).movedim(-2, 1)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Attended:
        """Attend in every head, then join."""
        check_sequence(x, features=self.sizes.d_model)
        batch, length, _ = x.shape
        with traced("MultiHeadAttention", batch=batch, length=length, masked=mask is not None):
            found = scaled_dot_product_attention(
                self._heads(self.q_linear(x)),
                self._heads(self.k_linear(x)),
                self._heads(self.v_linear(x)),
                self._for_heads(mask, batch=batch, length=length),
            )
            output = self.out_proj(found.output.movedim(1, -2).flatten(start_dim=-2))
        return Attended(output=output, weights=found.weights)
