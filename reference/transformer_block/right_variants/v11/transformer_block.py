"""The transformer block with checks."""

from __future__ import annotations

from collections.abc import Callable

from feed_forward import FeedForward
from guards import Activation, Norm, Sizes, check_sequence, log, traced
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn

Step = Callable[[Tensor], Tensor]


class TransformerBlock(nn.Module):
    """Attention and feed-forward on a residual stream."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm: str = "pre",
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.norm = Norm(norm)
        self.sizes = Sizes(
            d_model=d_model, num_heads=num_heads, d_ff=d_ff, dropout=dropout, bias=bias
        )
        kind = Activation(activation)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(
            d_model, d_ff, dropout=dropout, activation=kind.value, bias=bias
        )
        match self.norm:
            case Norm.PRE | Norm.POST:
                self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
            case Norm.NONE:
                log.info("a block without norms")
        self.dropout = nn.Dropout(dropout)
        self._sublayer = {
            Norm.PRE: TransformerBlock._pre,
            Norm.POST: TransformerBlock._post,
            Norm.NONE: TransformerBlock._none,
        }[self.norm]

    def extra_repr(self) -> str:
        """Show where the norms are."""
        return f"norm={self.norm.value}, {self.sizes}"

    def _pre(self, x: Tensor, *, step: Step, number: int) -> Tensor:
        norm = self.get_submodule(f"norm{number}")
        return x + self.dropout(step(norm(x)))

    def _post(self, x: Tensor, *, step: Step, number: int) -> Tensor:
        norm = self.get_submodule(f"norm{number}")
        return norm(x + self.dropout(step(x)))

    def _none(self, x: Tensor, *, step: Step, number: int) -> Tensor:
        return x + self.dropout(step(x))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Run both sublayers."""
        check_sequence(x, features=self.sizes.d_model)
        with traced("TransformerBlock", norm=self.norm, training=self.training):
            attend: Step = lambda t: self.attention(t, mask=mask)[0]  # noqa: E731
            x = self._sublayer(self, x, step=attend, number=1)
            x = self._sublayer(self, x, step=self.feed_forward, number=2)
        return x
